"""A judge made of rules and fitted models. `eval/judge.py` defines the interface."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from eval.dialogue import Dialogue, Failure, Judgement
from eval.judge import unjudgeable
from eval.local_judge.turn_decision import Weigh, decide
from eval.local_judge.turn_text import Exchange


class EmbeddedJudge:
    """Judges user turns one by one, in order, deterministically.

    Args:
        name: name and version; `abstain_below` is appended.
        abstain_below: if the judge's own estimate of the probability of its binary is below this, the result is
            `Failure("judge", "uncertain")`. None: every turn is judged.
    """

    cost_bound: float | None = 0.0

    def __init__(self, name: str, weigh: Weigh, abstain_below: float | None) -> None:
        self.id = name + (f"-abstain{abstain_below}" if abstain_below else "")
        self.measured: dict[str, Any] = {}
        self._weigh = weigh
        self._abstain_below = abstain_below or 0.0

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Judgement | Failure], None, None]:
        """Each dialogue with its judgement; `reply` is the name of the deciding rule, or "model".

        A dialogue without a user turn to judge, or without a response before it, yields `Failure("judge",
        "no_user_turn")` or `Failure("judge", "no_response")`.
        """
        for dialogue in dialogues:
            yield dialogue, self._decide(dialogue)

    def _decide(self, dialogue: Dialogue) -> Judgement | Failure:
        if failure := unjudgeable(dialogue.messages):
            return failure
        *context, turn = dialogue.messages
        decision = decide(Exchange.of(context, turn.text), self._weigh)
        if decision.certainty < self._abstain_below:
            return Failure("judge", "uncertain", f"{decision.label} with probability {decision.certainty:.2f}")
        return Judgement(decision.label, decision.genuine, judge=self.id, reply=decision.reason, cost=0.0)
