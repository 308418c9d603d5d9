"""The filter interface: a predicate over one conversation and a context that returns a rejection reason or None."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from data_gen.generate_config import Filters
from data_gen.ngram_index import NgramIndex
from eval.dialogue import Dialogue, Message

Stage = Literal["seed", "generate", "read", "judge", "compare"]
"""Where something is rejected: a seed before use ("seed"), a conversation that could not be generated ("generate"), by
its own text ("read"), by the judge's verdicts ("judge"), or by comparison with other conversations ("compare")."""


@dataclass(frozen=True)
class Reason:
    """Why something is rejected."""

    name: str
    """Short category name; rejections are counted by it."""
    detail: str = ""


@dataclass(frozen=True)
class Context:
    """What filters may use besides the conversation itself."""

    limits: Filters
    following: frozenset[str]
    """Names of the styles whose turns follow up."""
    evaluation: NgramIndex
    """The texts of the evaluation rows."""


Predicate = Callable[[Dialogue, Context], Reason | None]


def generated(dialogue: Dialogue) -> tuple[Message, ...]:
    """The turns after the seed."""
    return dialogue.messages[dialogue.meta["seed_turns"] :]


def generated_by(dialogue: Dialogue, role: str) -> list[str]:
    """Texts of the turns of `role` after the seed."""
    return [message.text for message in generated(dialogue) if message.role == role]
