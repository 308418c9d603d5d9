"""What a judge is: dialogues in, a judgement or a failure for each out. It knows no model under test.

Implementations live in `eval/judges/`, one file each, as a class `Judge` with the members of the protocol below.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, Protocol

from eval.dialogue import Dialogue, Failure, Judgement, Message


class Judge(Protocol):
    """Decides on the last user turn of each dialogue, given the turns before it."""

    id: str
    """Name and version: it stands with every number, because rates of different judges cannot be compared."""

    measured: dict[str, Any]
    """What it has used since it was made, over all calls: questions, attempts, tokens, dollars; empty if nothing.

    What one call has used is the difference of the readings around it: `used_between`.
    """

    cost_bound: float | None
    """US dollars that one dialogue costs at most, for an estimate: 0.0 where nothing is paid, None without a price."""

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Judgement | Failure], None, None]:
        """Each dialogue with its `Judgement`, or a `Failure("judge", ...)`, as each is decided, in any order.

        May be called again when a call has ended.
        """
        ...


def unjudgeable(messages: Sequence[Message]) -> Failure | None:
    """Why there is no user turn to judge here, or None: it must be the last turn, and follow a response."""
    if not messages or messages[-1].role != "user":
        return Failure("judge", "no_user_turn", "the last message is not a user turn")
    if len(messages) < 2 or messages[-2].role != "assistant":
        return Failure("judge", "no_response", "the user turn does not follow an assistant turn")
    return None


def used_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What a judge has used between two readings of its `measured`: numbers are differences, anything else is `after`.

    Counts of one kind (a mapping in a mapping) that did not change are left out.
    """
    used: dict[str, Any] = {}
    for name, value in after.items():
        earlier = before.get(name)
        if isinstance(value, Mapping):
            counts = used_between(earlier or {}, value)
            used[name] = {kind: count for kind, count in counts.items() if count}
        elif isinstance(value, int | float):
            used[name] = round(value - (earlier or 0), 6)
        else:
            used[name] = value
    return used
