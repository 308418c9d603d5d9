"""The card of a data set: the Hub's header, what is in it, how it was made and filtered, three examples."""

from __future__ import annotations

from data_gen.filtering import Filtered
from data_gen.generation_parts import Parts
from data_gen.summary import Summary, tables
from eval import table


def card(parts: Parts, filtered: Filtered, counted: Summary) -> str:
    """The text of `README.md`."""
    return "\n".join([f"# {parts.config.name}", "", table.to_markdown(tables(counted))])
