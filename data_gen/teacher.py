"""The teacher protocol: plans in, conversations out. Filters and files are handled elsewhere.

Implementations live in `data_gen/teachers/`, one file each, as a class `Teacher` with the members of the protocol.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any, Protocol

from data_gen.plan import Plan
from eval.dialogue import Dialogue, Failure, Message

TASK = "collab"
"""The task of every synthesized conversation."""


class Teacher(Protocol):
    """Generates both sides of each planned conversation."""

    id: str
    """Name and version; the generated messages carry it as `by`."""

    measured: dict[str, Any]
    """Usage since construction: attempts, tokens, dollars; empty if nothing is metered."""

    cost_bound: float | None
    """Most US dollars that one generated turn can cost: 0.0 if it is free, None if its price is unknown."""

    def converse(self, plans: Iterable[Plan]) -> Generator[tuple[Plan, Dialogue], None, None]:
        """Each plan with its conversation (see `conversation`) as it finishes, in any order.

        A conversation that could not be completed has a `Failure("generate", ...)` and the turns before it.
        """
        ...


def conversation(
    plan: Plan,
    turns: Iterable[Message],
    teacher: str,
    *,
    made: Mapping[str, Any] | None = None,
    failure: Failure | None = None,
) -> Dialogue:
    """The conversation of `plan` as a new dialogue: the seed's messages, then `turns`.

    Args:
        made: how the teacher made it, as JSON values for `meta["made"]`; the scripted teacher lists its phrasings.
    """
    meta = {
        "seed_task": plan.seed.task,
        "seed_id": plan.seed.id,
        "seed_meta": dict(plan.seed.meta),
        "seed_turns": len(plan.seed.messages),
        "styles": list(plan.styles),
        "persona": plan.persona.persona,
        "level": plan.persona.level,
        "goal": plan.persona.goal,
        "teacher": teacher,
        "plan": plan.number,
        "made": dict(made or {}),
    }
    return Dialogue(TASK, (*plan.seed.messages, *turns), reference=plan.seed.reference, meta=meta, failure=failure)
