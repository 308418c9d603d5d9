"""The embedded judge: rules for what the labelling guide defines, small linear models for the rest. No network.

Its weights, and its agreement on held-out contexts, are in `local.json` next to it, written by `python -m
eval.fit_judge`. The implementation is in `eval/local_judge/`. It reads only roles and texts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from eval.dialogue import content_hash
from eval.local_judge.effective_text import effective_text
from eval.local_judge.embedded_judge import EmbeddedJudge
from eval.local_judge.turn_model import TurnModel
from eval.local_judge.word_weigher import READERS, WordWeigher

PARAMETERS = Path(__file__).with_suffix(".json")


class Judge(EmbeddedJudge):
    """Rules, and models of the words and shape of a turn."""

    def __init__(self, abstain_below: Annotated[float, Field(gt=0.5, lt=1)] | None = None) -> None:
        weigh = WordWeigher(TurnModel.read(PARAMETERS))
        version = content_hash([weigh.model.to_json(), *map(effective_text, READERS)])[:8]
        super().__init__(f"local-2-{version}", weigh, abstain_below)
