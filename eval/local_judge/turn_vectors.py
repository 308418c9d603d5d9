"""Named numeric features from sentence vectors: similarity of the user turn to its context, and its position.

Knows no weights and no labels. Values are rounded, so that they hardly depend on the batch of a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from eval.local_judge.turn_text import SENTENCE_END, Exchange

TEXT_LIMIT = 1_200
"""Characters of a turn, a query or a response that are encoded as a whole."""
SENTENCES, TURN_SENTENCES, SENTENCE_LIMIT = 24, 6, 400
"""Encoded sentences of a query or a response, and of a user turn; characters of each sentence."""
DIGITS = 4


class Encoder(Protocol):
    """Texts to unit vectors, (N, D)."""

    digest: str
    """SHA-256 of its weights."""

    def vectors(self, texts: Sequence[str]) -> Any: ...


@dataclass(frozen=True)
class Components:
    """Principal components of the vectors of user turns."""

    mean: tuple[float, ...]
    """(D,)"""
    rows: tuple[tuple[float, ...], ...]
    """(K, D), orthogonal"""

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Components:
        """Restore `to_json`."""
        return cls(tuple(values["mean"]), tuple(map(tuple, values["rows"])))

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"mean": list(self.mean), "rows": [list(row) for row in self.rows]}

    def of(self, vectors: Any) -> list[dict[str, float]]:
        """The K coordinates of each vector of (N, D), by name."""
        if not self.rows:
            return [{} for _ in vectors]
        import numpy as np

        found = (vectors.astype(float) - np.array(self.mean)) @ np.array(self.rows).T
        return [{f"vector_component_{k:02}": round(float(x), DIGITS) for k, x in enumerate(row)} for row in found]

    def first(self, number: int) -> Components:
        """Only the first `number` components."""
        return Components(self.mean, self.rows[:number])


def texts_of(exchange: Exchange) -> list[str]:
    """The texts of an exchange that are encoded."""
    return [text for part in _parts(exchange) for text in part]


def turn_vector(exchange: Exchange, encoder: Encoder) -> Any:
    """The vector of the user turn, (1, D)."""
    return encoder.vectors([exchange.turn.raw[:TEXT_LIMIT]])


def cosines(exchange: Exchange, encoder: Encoder) -> dict[str, float]:
    """Similarity of the user turn and its sentences to query and response: cosines in [-1, 1], and differences."""
    import numpy as np

    (turn, response, query), of_turn, of_response, of_query = _vectors(exchange, encoder)
    near_response, near_query = np.sort(of_response @ turn)[::-1], np.sort(of_query @ turn)[::-1]
    each_response, each_query = (of_turn @ of_response.T).max(axis=1), (of_turn @ of_query.T).max(axis=1)
    found = {
        "vector_response": turn @ response,
        "vector_query": turn @ query,
        "vector_closer_to_response": turn @ response - turn @ query,
        "vector_query_response": query @ response,
        "vector_response_sentence": near_response[0],
        "vector_response_sentences": near_response[:3].mean(),
        "vector_last_sentence": of_response[-1] @ turn,
        "vector_query_sentence": near_query[0],
        "vector_closer_sentence": near_response[0] - near_query[0],
        "vector_far": 1 - max(near_response[0], near_query[0]),
        "vector_best_to_response": each_response.max(),
        "vector_worst_to_response": each_response.min(),
        "vector_worst_to_query": each_query.min(),
        "vector_best_gain": (each_response - each_query).max(),
    }
    return {name: round(float(value), DIGITS) for name, value in found.items()}


def _vectors(exchange: Exchange, encoder: Encoder) -> list[Any]:
    import numpy as np

    parts = _parts(exchange)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return np.split(encoder.vectors([text for part in parts for text in part]), ends)


def _parts(exchange: Exchange) -> tuple[list[str], ...]:
    """Turn, response and query; then the sentences of each."""
    readings = (exchange.turn, exchange.response, exchange.query)
    limits = (TURN_SENTENCES, SENTENCES, SENTENCES)
    sentences = (_sentences(reading.raw, limit) for reading, limit in zip(readings, limits, strict=True))
    return [reading.raw[:TEXT_LIMIT] for reading in readings], *sentences


def _sentences(text: str, limit: int) -> list[str]:
    found = [part.strip()[:SENTENCE_LIMIT] for part in SENTENCE_END.split(text)]
    return [part for part in found if len(part) > 3][:limit] or [" "]
