"""Fitted models that read the words, shape and sentence vectors of an exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.local_judge.turn_features import features
from eval.local_judge.turn_model import Prediction, TurnModel
from eval.local_judge.turn_text import Exchange
from eval.local_judge.turn_vectors import Components, Encoder, cosines, texts_of, turn_vector
from eval.local_judge.word_weigher import READERS as WORD_READERS

READERS = (
    *WORD_READERS,
    *(Path(__file__).with_name(name) for name in ("sentence_encoder.py", "turn_vectors.py", "vector_weigher.py")),
)
"""The files that determine decisions: any effective change in one makes another judge."""


@dataclass(frozen=True)
class VectorWeigher:
    """Weighs the named features of an exchange, cosines, and the principal components of the turn."""

    model: TurnModel
    components: Components
    encoder: Encoder

    def __call__(self, exchange: Exchange) -> Prediction:
        """The models' prediction for the turn."""
        (place,) = self.components.of(turn_vector(exchange, self.encoder))
        return self.model.predict({**features(exchange), **cosines(exchange, self.encoder), **place})

    def prepare(self, exchanges: Sequence[Exchange]) -> None:
        """Encode their texts in batches, which is faster than one by one."""
        if texts := [text for exchange in exchanges for text in texts_of(exchange)]:
            self.encoder.vectors(texts)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "encoder": self.encoder.digest,
            "components": self.components.to_json(),
            "model": self.model.to_json(),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any], encoder: Encoder) -> VectorWeigher:
        """Restore `to_json`."""
        return cls(TurnModel.from_json(values["model"]), Components.from_json(values["components"]), encoder)
