"""What a filter is: a predicate over one conversation that gives a reason or None, and what it may know beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from data_gen.generate_config import Filters
from data_gen.ngram_index import NgramIndex
from eval.dialogue import Dialogue, Message

Stage = Literal["seed", "generate", "read", "judge", "compare"]
"""Where something is rejected: a seed before it is used, a conversation that could not be made, by itself, by the
judge, or beside the others."""


@dataclass(frozen=True)
class Reason:
    """Why something is not kept."""

    name: str
    """Short and countable."""
    detail: str = ""


@dataclass(frozen=True)
class Context:
    """What filters know beside a conversation."""

    limits: Filters
    following: frozenset[str]
    """Names of the styles whose turns follow up."""
    evaluation: NgramIndex
    """The texts of the rows that models are measured on."""


Predicate = Callable[[Dialogue, Context], Reason | None]


def generated(dialogue: Dialogue) -> tuple[Message, ...]:
    """The turns after the seed."""
    return dialogue.messages[dialogue.meta["seed_turns"] :]


def generated_by(dialogue: Dialogue, role: str) -> list[str]:
    """Texts of the turns of `role` after the seed."""
    return [message.text for message in generated(dialogue) if message.role == role]
