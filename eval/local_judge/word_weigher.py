"""Fitted models that read the words and shape of an exchange."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.local_judge.turn_features import features
from eval.local_judge.turn_model import Prediction, TurnModel
from eval.local_judge.turn_text import Exchange

READERS = (
    Path(__file__).parents[1] / "labels.py",
    *(
        Path(__file__).with_name(name)
        for name in (
            "embedded_judge.py",
            "turn_artifacts.py",
            "turn_cues.py",
            "turn_cues.yaml",
            "turn_decision.py",
            "turn_features.py",
            "turn_model.py",
            "turn_text.py",
            "turn_words.yaml",
            "word_weigher.py",
        )
    ),
)
"""The code and word lists that determine decisions: any effective change in one makes another judge."""


@dataclass(frozen=True)
class WordWeigher:
    """Weighs the named features of an exchange."""

    model: TurnModel

    def __call__(self, exchange: Exchange) -> Prediction:
        """The models' prediction for the turn."""
        return self.model.predict(features(exchange))

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"model": self.model.to_json()}
