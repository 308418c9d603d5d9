"""Near-duplicate filter over the user turns of conversations: MinHash LSH finds candidates, exact Jaccard decides.

Compares the sets of word 3-grams of all generated user turns; 3-grams do not cross turns. Library: datasketch.
"""

from __future__ import annotations

from collections.abc import Iterable

from data_gen.filter_context import Reason, generated_by
from eval.dialogue import Dialogue
from eval.turn_variety import words_of

SIZE = 3
PERMUTATIONS = 128


class NearDuplicates:
    """Keeps an index of the conversations that passed; of two near-duplicates the first one checked is kept."""

    def __init__(self, threshold: float) -> None:
        from datasketch import MinHashLSH

        self._threshold = threshold
        self._kept: dict[int, set[str]] = {}
        # Tuned for recall, since Jaccard decides; the library cannot tune thresholds close to 1, hence the 0.9.
        self._index = MinHashLSH(threshold=min(threshold, 0.9), num_perm=PERMUTATIONS, weights=(0.05, 0.95))

    def check(self, dialogue: Dialogue) -> Reason | None:
        """The reason for rejecting `dialogue` as a near-duplicate; if None, it is added to the index."""
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
    """All word trigrams of each text; a text of fewer than three words counts as one."""
    grams = set()
    for text in texts:
        words = words_of(text)
        grams |= {" ".join(words[start : start + SIZE]) for start in range(max(1, len(words) - SIZE + 1))}
    return grams
