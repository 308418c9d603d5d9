"""What a teacher is: plans in, conversations out. It knows no filter and no file.

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
    """Speaks both sides of each plan."""

    id: str
    """Name and version; the generated messages carry it as `by`."""

    measured: dict[str, Any]
    """What it has used since it was made: attempts, tokens, dollars; empty if nothing."""

    cost_bound: float | None
    """US dollars that one generated turn costs at most: 0.0 where nothing is paid, None without a price."""

    def converse(self, plans: Iterable[Plan]) -> Generator[tuple[Plan, Dialogue], None, None]:
        """Each plan with its conversation, made by `conversation`, as each is finished, in any order.

        One that could not be made comes with its `Failure("generate", ...)` and the turns that there are.
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
    """The conversation of `plan` as a dialogue of its own: the seed's messages, then `turns`.

    Args:
        made: how the teacher made it, JSON values, for `meta["made"]`; the scripted one names its phrasings.
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
