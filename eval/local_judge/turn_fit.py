"""Fits the models of the local judge on labelled user turns, with scikit-learn's regularized logistic regression.

Turns constructed from the contexts are added to the labelled ones. The fitted models run without scikit-learn.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from eval.dialogue import Message
from eval.gold import GoldItem
from eval.labels import ALWAYS_GENUINE, SPECIFIC
from eval.local_judge.constructed_turns import construct
from eval.local_judge.turn_features import features
from eval.local_judge.turn_model import FEATURE_LIMIT, TurnModel
from eval.local_judge.turn_text import Exchange
from eval.local_judge.word_weigher import WordWeigher

CONSTRUCTED_PER_CONTEXT = 6
CONSTRUCTED_WEIGHT = 0.3
"""Total weight of the constructed turns relative to the labelled ones."""
LABEL_C, GENUINE_C, SPECIFIC_C = 0.2, 0.05, 0.05
"""Inverse strengths of the L2 penalties (scikit-learn's C). A quarter of each cross-validates equally well on unseen
queries, and worse on tasks and sources left out."""
SMALLEST_SCALE = 0.02
"""Features that vary less than this are not scaled, or one rare event would amount to many standard deviations."""


def exchange_of(item: GoldItem) -> Exchange:
    """The exchange of a labelled item."""
    return Exchange.of(item.dialogue.messages[:-1], item.dialogue.messages[-1].text)


def fit_words(items: Sequence[GoldItem], seed: int = 0) -> WordWeigher:
    """Fit the three models on labelled items and on turns constructed from their contexts."""
    made = construct(items, CONSTRUCTED_PER_CONTEXT, seed)
    table = Table([word_features(item) for item in items], [word_features(item) for item in made])
    return WordWeigher(table.fit([*items, *made]))


@functools.cache
def _features(messages: tuple[Message, ...]) -> dict[str, float]:
    return features(Exchange.of(messages[:-1], messages[-1].text))


def word_features(item: GoldItem) -> dict[str, float]:
    """The named features of words and shape, cached for many fits."""
    return _features(item.dialogue.messages)


class Table:
    """Labelled rows followed by constructed ones, standardized by the labelled ones.

    A feature that a constructed row lacks is set to its mean.
    """

    def __init__(self, rows: Sequence[Mapping[str, float]], made: Sequence[Mapping[str, float]]) -> None:
        import numpy as np

        self.names = tuple(rows[0])
        labelled = np.array([[row[name] for name in self.names] for row in rows])
        self.mean, deviation = labelled.mean(axis=0), labelled.std(axis=0)
        self.scale = np.where(deviation < SMALLEST_SCALE, 1.0, deviation)
        self.x = self.standardized([*rows, *made])
        self.weight = np.full(len(self.x), CONSTRUCTED_WEIGHT * len(rows) / max(1, len(made)))
        self.weight[: len(rows)] = 1.0

    def standardized(self, rows: Sequence[Mapping[str, float]]) -> Any:
        """(N, F) in standard deviations, clipped to `FEATURE_LIMIT`."""
        import numpy as np

        means = dict(zip(self.names, self.mean, strict=True))
        values = np.array([[row.get(name, means[name]) for name in self.names] for row in rows])
        return np.clip((values - self.mean) / self.scale, -FEATURE_LIMIT, FEATURE_LIMIT)

    def regression(self, classes: Sequence[Any], c: float, chosen: Any = slice(None), solver: str = "lbfgs") -> Any:
        """A logistic regression fitted on the chosen rows; `c` is the inverse strength of its penalty."""
        import numpy as np
        from sklearn.linear_model import LogisticRegression

        fitted = LogisticRegression(C=c, max_iter=3000, solver=solver)
        return fitted.fit(self.x[chosen], np.array(classes)[chosen], sample_weight=self.weight[chosen])

    def fit(self, items: Sequence[GoldItem], penalty: float = 1.0) -> TurnModel:
        """Fit the three models; `items` are those of the rows."""
        import numpy as np

        follow_ups = np.array([item.label in ALWAYS_GENUINE for item in items])
        by_label = self.regression([item.label for item in items], LABEL_C / penalty)
        genuine = self.regression([item.genuine for item in items], GENUINE_C / penalty)
        specific = self.regression([item.label in SPECIFIC for item in items], SPECIFIC_C / penalty, follow_ups)
        return TurnModel(
            features=self.names,
            mean=tuple(map(rounded, self.mean)),
            scale=tuple(map(rounded, self.scale)),
            labels={str(name): row for name, row in zip(by_label.classes_, _weights(by_label), strict=True)},
            genuine=_weights(genuine)[0],
            specific=_weights(specific)[0],
        )


def _weights(fitted: Any) -> list[tuple[float, ...]]:
    """One row of weights per row of coefficients, the intercept last."""
    return [(*map(rounded, row), rounded(bias)) for row, bias in zip(fitted.coef_, fitted.intercept_, strict=True)]


def rounded(value: float) -> float:
    """Rounded to the precision of parameter files."""
    return round(float(value), 5)
