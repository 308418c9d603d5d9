"""Conversations whose user says nearly what an earlier one's says: MinHash finds candidates, Jaccard decides.

Compared are the sets of word 3-grams of all generated user turns, within a turn. Library: datasketch.
"""

from __future__ import annotations

from collections.abc import Iterable

from data_gen.filter_context import Reason, generated_by
from eval.dialogue import Dialogue
from eval.turn_variety import words_of

SIZE = 3
PERMUTATIONS = 128


class NearDuplicates:
    """Remembers what it has let pass; the order in which conversations come decides which of two is kept."""

    def __init__(self, threshold: float) -> None:
        from datasketch import MinHashLSH

        self._threshold = threshold
        self._kept: dict[int, set[str]] = {}
        # Tuned to miss little rather than to propose little; the library has no tuning for thresholds close to 1.
        self._index = MinHashLSH(threshold=min(threshold, 0.9), num_perm=PERMUTATIONS, weights=(0.05, 0.95))

    def check(self, dialogue: Dialogue) -> Reason | None:
        """Why `dialogue` repeats one that passed before; None lets it pass too."""
        from datasketch import MinHash

        grams = word_trigrams(generated_by(dialogue, "user"))
        number = dialogue.meta["plan"]
        sketch = MinHash(num_perm=PERMUTATIONS, seed=1)
        sketch.update_batch([gram.encode() for gram in sorted(grams)])
        for earlier in sorted(self._index.query(sketch)):
            similar = len(grams & self._kept[earlier]) / len(grams | self._kept[earlier])
            if similar >= self._threshold:
                return Reason("near_duplicate", f"of plan {earlier}: Jaccard similarity {similar:.2f}")
        self._kept[number] = grams
        self._index.insert(number, sketch)
        return None


def word_trigrams(texts: Iterable[str]) -> set[str]:
    """Every run of three words within a text; a text of fewer words is one run."""
    grams = set()
    for text in texts:
        words = words_of(text)
        grams |= {" ".join(words[start : start + SIZE]) for start in range(max(1, len(words) - SIZE + 1))}
    return grams
