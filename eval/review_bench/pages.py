"""The pages of the bench as HTML. Text is escaped, and nothing that is hidden from reviewers is passed in."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.dialogue import Message
from eval.labels import LABELS
from eval.review_bench.decision import Decision
from eval.review_bench.inert_text import pieces

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
KEYS = dict(zip("1234567890-", LABELS, strict=True))
"""Keyboard key -> label, in the order of the labels."""


@dataclass(frozen=True)
class Progress:
    """The progress of one reviewer."""

    decided: int
    total: int
    seconds: float | None
    """Median time per decided item; None if none was measured."""

    @classmethod
    def of(cls, decisions: Mapping[int, Decision], total: int) -> Progress:
        """From all decisions of a reviewer."""
        complete = [decision for decision in decisions.values() if decision.complete]
        measured = [decision.seconds for decision in complete if decision.seconds is not None]
        return cls(len(complete), total, statistics.median(measured) if measured else None)

    @property
    def minutes_left(self) -> int | None:
        """Estimated from the median time per item, rounded up; None if that is unknown."""
        return None if self.seconds is None else -int(-(self.total - self.decided) * self.seconds // 60)


def start_page(annotators: Mapping[str, Progress], problem: str | None = None) -> str:
    """The page that asks for a name, and lists the known reviewers."""
    return _page("start.html", annotators=annotators, problem=problem)


def item_page(
    annotator: str, position: int, messages: tuple[Message, ...], decision: Decision, progress: Progress, can_undo: bool
) -> str:
    """The page of one item: its conversation, its user turn, and the decision so far."""
    *context, turn = messages
    query = max((place for place, message in enumerate(context) if message.role == "user"), default=0)
    return _page(
        "item.html",
        annotator=annotator,
        position=position,
        earlier=context[:query],
        context=context[query:],
        turn=turn.text,
        decision=decision,
        progress=progress,
        can_undo=can_undo,
    )


def done_page(annotator: str, progress: Progress, counts: Mapping[str, int], store: Path) -> str:
    """The page at the end of the list: the reviewer's totals, what is still open, and what to do next."""
    return _page("done.html", annotator=annotator, progress=progress, counts=counts, store=shlex.quote(str(store)))


def _page(name: str, **fields: Any) -> str:
    return _templates().get_template(name).render(fields)


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"pieces": pieces, "keys": KEYS, "labels": LABELS}
    return environment
