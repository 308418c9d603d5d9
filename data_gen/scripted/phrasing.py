"""A phrasing: a template with `{slots}` to fill and `[one|of these]` alternatives, which may be nested.

    [Hm, |]where does the {result} in "{expression}" come from?

Slot values are plain data: braces and brackets in them have no meaning.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

SLOT = re.compile(r"\{(\w+)\}")
INNERMOST = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True)
class Phrasing:
    """A `template` and the `name` under which diversity measures count it."""

    name: str
    template: str

    @cached_property
    def slots(self) -> frozenset[str]:
        """The slots of all alternatives of the template; each needs a value."""
        return frozenset(SLOT.findall(self.template))

    def say(self, values: Mapping[str, str], draw: random.Random) -> str:
        """The text with one alternative drawn for each choice, slots filled, and the first letter capitalized."""
        text = self.template
        while choice := INNERMOST.search(text):
            text = text[: choice.start()] + draw.choice(choice[1].split("|")) + text[choice.end() :]
        text = SLOT.sub(lambda slot: values[slot[1]], text).strip()
        return text[:1].upper() + text[1:]
