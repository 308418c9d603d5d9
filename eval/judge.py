"""The interface of judges: dialogues in, a judgement or a failure for each out. Knows no model under test.

Implementations are in `eval/judges/`, one file each, as a class `Judge` with the members of the protocol below.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, Protocol

from eval.dialogue import Dialogue, Failure, Judgement, Message


class Judge(Protocol):
    """Decides on the last user turn of each dialogue, given the turns before it."""

    id: str
    """Name and version, reported with every number, because rates of different judges are not comparable."""

    measured: dict[str, Any]
    """Usage since it was made, over all calls: questions, attempts, tokens, dollars; empty if it counts nothing.

    The usage of one call is the difference of two readings: `used_between`.
    """

    cost_bound: float | None
    """Upper bound in US dollars of the cost per dialogue, for an estimate: 0.0 if it is free, None without a price."""

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Judgement | Failure], None, None]:
        """Each dialogue with its `Judgement` or `Failure("judge", ...)`, as soon as it is decided, in any order.

        May be called again after a call has ended.
        """
        ...


def unjudgeable(messages: Sequence[Message]) -> Failure | None:
    """Why these messages can't be judged, or None if they end in a user turn that follows a response."""
    if not messages or messages[-1].role != "user":
        return Failure("judge", "no_user_turn", "the last message is not a user turn")
    if len(messages) < 2 or messages[-2].role != "assistant":
        return Failure("judge", "no_response", "the user turn does not follow an assistant turn")
    return None


def used_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """A judge's usage between two readings of `measured`: differences of numbers, and otherwise the value in `after`.

    Nested counts that did not change are left out.
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
