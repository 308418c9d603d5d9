"""Three small linear models over named features: the label, *genuine*, and whether a follow-up is specific or generic.

The weights come from a JSON file that `eval.fit_judge` writes; prediction is plain arithmetic. Knows no text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

from eval.labels import check_label

FEATURE_LIMIT = 4.0
"""Features are clipped to this number of standard deviations, so that no text can dominate a sum."""


class Prediction(NamedTuple):
    """The probabilities that the three models give independently for one turn."""

    labels: dict[str, float]
    """Sums to 1."""
    genuine: float
    specific: float
    """That it refers to something in this response, given that it is a follow-up."""


@dataclass(frozen=True)
class TurnModel:
    """Standardization and weights of the three models, one weight per feature."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    labels: Mapping[str, tuple[float, ...]]
    """Label -> weights, the intercept last."""
    genuine: tuple[float, ...]
    """Weights of the binary model, the intercept last."""
    specific: tuple[float, ...]
    """Weights of `genuine_followup` against `generic_followup`, the intercept last."""

    @classmethod
    def read(cls, path: Path) -> TurnModel:
        """Read the `model` part of a parameter file.

        Raises:
            ValueError: the number of weights does not match the features, or a label is unknown.
        """
        return cls.from_json(json.loads(path.read_text(encoding="utf-8"))["model"])

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TurnModel:
        """Restore `to_json`."""
        model = cls(
            features=tuple(values["features"]),
            mean=tuple(values["mean"]),
            scale=tuple(values["scale"]),
            labels={check_label(label): tuple(weights) for label, weights in values["labels"].items()},
            genuine=tuple(values["genuine"]),
            specific=tuple(values["specific"]),
        )
        size = len(model.features)
        if len(model.mean) != size or len(model.scale) != size:
            raise ValueError(f"{size} features, but {len(model.mean)} means and {len(model.scale)} scales")
        if any(len(weights) != size + 1 for weights in (*model.labels.values(), model.genuine, model.specific)):
            raise ValueError(f"each row of weights needs {size} weights and an intercept")
        return model

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "features": list(self.features),
            "mean": list(self.mean),
            "scale": list(self.scale),
            "labels": {label: list(weights) for label, weights in self.labels.items()},
            "genuine": list(self.genuine),
            "specific": list(self.specific),
        }

    def predict(self, features: Mapping[str, float]) -> Prediction:
        """Predict from the features of one turn.

        Raises:
            KeyError: a feature of the model is missing.
        """
        x = [
            min(FEATURE_LIMIT, max(-FEATURE_LIMIT, (features[name] - mean) / scale))
            for name, mean, scale in zip(self.features, self.mean, self.scale, strict=True)
        ]
        x.append(1.0)
        scores = {label: _dot(weights, x) for label, weights in self.labels.items()}
        top = max(scores.values())
        odds = {label: math.exp(score - top) for label, score in scores.items()}
        total = sum(odds.values())
        probabilities = {label: odd / total for label, odd in odds.items()}
        return Prediction(probabilities, _chance(_dot(self.genuine, x)), _chance(_dot(self.specific, x)))


def _dot(weights: tuple[float, ...], x: list[float]) -> float:
    return sum(map(mul, weights, x))


def _chance(score: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
