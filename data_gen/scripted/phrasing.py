"""A phrasing: a text with `{slots}` to fill and `[one|of these]` to choose from, alternatives nested at will.

    [Hm, |]where does the {result} in "{expression}" come from?

What is filled in is data: braces and brackets in it mean nothing. Knows no style and no slot.
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
    """`template` under a `name` that stands for it in figures of diversity."""

    name: str
    template: str

    @cached_property
    def slots(self) -> frozenset[str]:
        """The slots of the template, in whichever alternative they stand: all have to be there."""
        return frozenset(SLOT.findall(self.template))

    def say(self, values: Mapping[str, str], draw: random.Random) -> str:
        """The text with one alternative of each choice and the slots filled, its first letter a capital one."""
        text = self.template
        while choice := INNERMOST.search(text):
            text = text[: choice.start()] + draw.choice(choice[1].split("|")) + text[choice.end() :]
        text = SLOT.sub(lambda slot: values[slot[1]], text).strip()
        return text[:1].upper() + text[1:]
