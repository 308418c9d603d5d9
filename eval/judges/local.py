"""The embedded judge: rules for what the guide defines, small linear models for the rest. No network, no download.

Its weights, and the figures it reached on contexts it had not seen, are in `local.json` beside it, written by
`python -m eval.fit_judge`. How it decides is in `eval/local_judge/`. It reads roles and texts and nothing else.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from eval.dialogue import Dialogue, Failure, Judgement, content_hash
from eval.judge import unjudgeable
from eval.local_judge.effective_text import effective_text
from eval.local_judge.turn_decision import decide
from eval.local_judge.turn_model import TurnModel
from eval.local_judge.turn_text import Exchange

PARAMETERS = Path(__file__).with_suffix(".json")
READERS = tuple(
    Path(__file__).parent.parent / name
    for name in (
        "labels.py",
        "local_judge/turn_artifacts.py",
        "local_judge/turn_cues.py",
        "local_judge/turn_cues.yaml",
        "local_judge/turn_decision.py",
        "local_judge/turn_features.py",
        "local_judge/turn_model.py",
        "local_judge/turn_text.py",
        "local_judge/turn_words.yaml",
    )
)
"""The files that decide, code and word lists: a change in one that can have an effect is another judge."""


class Judge:
    """Judges user turns one by one, in order, the same way every time.

    Args:
        abstain_below: a binary that is less probable than this, by the judge's own estimate, is not given: the result
            is `Failure("judge", "uncertain")`. None: every turn is judged.
    """

    cost_bound: float | None = 0.0

    def __init__(self, abstain_below: Annotated[float, Field(gt=0.5, lt=1)] | None = None) -> None:
        self._model = TurnModel.read(PARAMETERS)
        self._abstain_below = abstain_below or 0.0
        self.id = f"local-2-{_version()}" + (f"-abstain{abstain_below}" if abstain_below else "")
        self.measured: dict[str, Any] = {}

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Judgement | Failure], None, None]:
        """Each dialogue with its judgement; `reply` names the rule that decided, or "model".

        A dialogue without a user turn to judge, or without a response before it, yields `Failure("judge",
        "no_user_turn")` or `Failure("judge", "no_response")`.
        """
        for dialogue in dialogues:
            yield dialogue, self._decide(dialogue)

    def _decide(self, dialogue: Dialogue) -> Judgement | Failure:
        if failure := unjudgeable(dialogue.messages):
            return failure
        *context, turn = dialogue.messages
        decision = decide(Exchange.of(context, turn.text), self._model)
        if decision.certainty < self._abstain_below:
            return Failure("judge", "uncertain", f"{decision.label} with probability {decision.certainty:.2f}")
        return Judgement(decision.label, decision.genuine, judge=self.id, reply=decision.reason, cost=0.0)


def _version() -> str:
    """Eight hex digits over the weights and the code that reads a turn."""
    return content_hash([TurnModel.read(PARAMETERS).to_json(), *map(effective_text, READERS)])[:8]
