"""Fits models that also read sentence vectors; inner cross-validation by context chooses the number of components.

Constructed turns have no vectors, so they inform only the word features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from eval.gold import GoldItem
from eval.local_judge.constructed_turns import construct
from eval.local_judge.turn_fit import (
    CONSTRUCTED_PER_CONTEXT,
    GENUINE_C,
    Table,
    exchange_of,
    rounded,
    word_features,
)
from eval.local_judge.turn_vectors import Components, Encoder, cosines, turn_vector
from eval.local_judge.vector_weigher import VectorWeigher

INNER_FOLDS = 3


class Choice(NamedTuple):
    """Number of principal components, and a factor on all three penalties."""

    components: int
    penalty: float


CHOICES = tuple(Choice(components, penalty) for components in (0, 12, 24, 48) for penalty in (1.0, 3.0))


class EncodedItem(NamedTuple):
    """A labelled item with everything that does not depend on a fit."""

    item: GoldItem
    features: dict[str, float]
    vector: Any
    """Vector of its user turn, (1, D)."""


def fit_vectors(items: Sequence[GoldItem], encoder: Encoder, seed: int = 0) -> VectorWeigher:
    """Fit on labelled items and on turns constructed from their contexts, with the choice of inner cross-validation."""
    made = construct(items, CONSTRUCTED_PER_CONTEXT, seed)
    encoded = [_encoded(item, encoder) for item in items]
    chosen = choose(encoded, made)
    components = principal_components(encoded).first(chosen.components)
    table = Table(_rows(encoded, components), [word_features(item) for item in made])
    return VectorWeigher(table.fit([*items, *made], chosen.penalty), components, encoder)


def choose(encoded: Sequence[EncodedItem], made: Sequence[GoldItem]) -> Choice:
    """The choice with the lowest log loss of *genuine* on held-out queries."""
    from sklearn.model_selection import GroupKFold

    losses = dict.fromkeys(CHOICES, 0.0)
    groups = [one.item.context for one in encoded]
    for train, test in GroupKFold(INNER_FOLDS).split(encoded, groups=groups):
        seen, unseen = [encoded[i] for i in train], [encoded[i] for i in test]
        contexts = {one.item.context for one in seen}
        own = [item for item in made if item.context in contexts]
        components = principal_components(seen)
        for choice in CHOICES:
            losses[choice] += _loss(seen, own, unseen, components.first(choice.components), choice.penalty)
    return min(losses, key=lambda choice: losses[choice])


def _loss(
    seen: Sequence[EncodedItem],
    made: Sequence[GoldItem],
    unseen: Sequence[EncodedItem],
    components: Components,
    penalty: float,
) -> float:
    """Log loss in nats, summed over the unseen items."""
    table = Table(_rows(seen, components), [word_features(item) for item in made])
    genuine = [*(one.item.genuine for one in seen), *(item.genuine for item in made)]
    fitted = table.regression(genuine, GENUINE_C / penalty, solver="newton-cholesky")
    chances = fitted.predict_log_proba(table.standardized(_rows(unseen, components)))
    classes = list(fitted.classes_)
    return -sum(float(row[classes.index(one.item.genuine)]) for row, one in zip(chances, unseen, strict=True))


def principal_components(encoded: Sequence[EncodedItem]) -> Components:
    """As many principal components as the largest choice needs."""
    import numpy as np
    from sklearn.decomposition import PCA

    vectors: Any = np.concatenate([one.vector for one in encoded])
    number = min(max(choice.components for choice in CHOICES), *vectors.shape)
    fitted = PCA(number, svd_solver="full").fit(vectors.astype(float))
    rows = tuple(tuple(map(rounded, row)) for row in fitted.components_)
    return Components(tuple(map(rounded, fitted.mean_)), rows)


def _encoded(item: GoldItem, encoder: Encoder) -> EncodedItem:
    exchange = exchange_of(item)
    return EncodedItem(item, {**word_features(item), **cosines(exchange, encoder)}, turn_vector(exchange, encoder))


def _rows(encoded: Sequence[EncodedItem], components: Components) -> list[dict[str, float]]:
    import numpy as np

    places = components.of(np.concatenate([one.vector for one in encoded]))
    return [{**one.features, **place} for one, place in zip(encoded, places, strict=True)]
