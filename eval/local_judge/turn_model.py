"""Two small linear models over named features: label probabilities, and the probability of *genuine* by itself.

The weights come from a JSON file that `eval.fit_judge` writes; running them is plain arithmetic. Knows no text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Any

from eval.labels import check_label

FEATURE_LIMIT = 4.0
"""Standard deviations at which a feature stops counting for more, so that no text can push a sum anywhere."""


@dataclass(frozen=True)
class TurnModel:
    """Standardization and weights of both models, one weight a feature."""

    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    labels: Mapping[str, tuple[float, ...]]
    """Label -> weights, the intercept last."""
    genuine: tuple[float, ...]
    """Weights of the binary model, the intercept last."""

    @classmethod
    def read(cls, path: Path) -> TurnModel:
        """Read the `model` part of a parameter file.

        Raises:
            ValueError: the numbers do not fit the features, or a label is unknown.
        """
        return cls.from_json(json.loads(path.read_text(encoding="utf-8"))["model"])

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> TurnModel:
        """Restore what `to_json` gave."""
        model = cls(
            features=tuple(values["features"]),
            mean=tuple(values["mean"]),
            scale=tuple(values["scale"]),
            labels={check_label(label): tuple(weights) for label, weights in values["labels"].items()},
            genuine=tuple(values["genuine"]),
        )
        size = len(model.features)
        if len(model.mean) != size or len(model.scale) != size:
            raise ValueError(f"{size} features, but {len(model.mean)} means and {len(model.scale)} scales")
        if any(len(weights) != size + 1 for weights in (*model.labels.values(), model.genuine)):
            raise ValueError(f"each row of weights needs {size} weights and an intercept")
        return model

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "features": list(self.features),
            "mean": list(self.mean),
            "scale": list(self.scale),
            "labels": {label: list(weights) for label, weights in self.labels.items()},
            "genuine": list(self.genuine),
        }

    def predict(self, features: Mapping[str, float]) -> tuple[dict[str, float], float]:
        """Label probabilities (they add up to 1) and the probability of *genuine* of the binary model.

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
        return probabilities, 1 / (1 + math.exp(-max(-30.0, min(30.0, _dot(self.genuine, x)))))


def _dot(weights: tuple[float, ...], x: list[float]) -> float:
    return sum(map(mul, weights, x))
