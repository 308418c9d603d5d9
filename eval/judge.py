"""What a judge is: dialogues in, a judgement or a failure for each out. It knows no model under test.

Implementations live in `eval/judges/`, one file each, as a class `Judge` with the members of the protocol below.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any, Protocol

from eval.dialogue import Dialogue, Failure, Judgement, Message


class Judge(Protocol):
    """Decides on the last user turn of each dialogue, given the turns before it."""

    id: str
    """Name and version: it stands with every number, because rates of different judges cannot be compared."""

    measured: dict[str, Any]
    """What it has used since it was made, for the manifest: questions, attempts, tokens, dollars; empty if nothing."""

    cost_bound: float | None
    """US dollars that one dialogue costs at most, for an estimate: 0.0 where nothing is paid, None without a price."""

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Judgement | Failure], None, None]:
        """Each dialogue with its `Judgement`, or a `Failure("judge", ...)`, as each is decided, in any order."""
        ...


def unjudgeable(messages: Sequence[Message]) -> Failure | None:
    """Why there is no user turn to judge here, or None: it must be the last turn, and follow a response."""
    if not messages or messages[-1].role != "user":
        return Failure("judge", "no_user_turn", "the last message is not a user turn")
    if len(messages) < 2 or messages[-2].role != "assistant":
        return Failure("judge", "no_response", "the user turn does not follow an assistant turn")
    return None
