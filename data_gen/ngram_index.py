"""Contamination index: the word 8-grams of many texts as sorted 64-bit hashes, each mapped to the row it occurs in.

Words are compared in lower case, without punctuation and without commas in numbers; 8-grams do not cross the end of
a text. An 8-gram shared by more than `COMMON` rows is boilerplate that identifies none of them, and is ignored (the
rule of arXiv 2005.14165, appendix C, for 13-grams), unless the text has no other, such as one that many rows repeat.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval.turn_variety import words_of

if TYPE_CHECKING:
    import numpy as np

SIZE = 8
COMMON = 10
"""Most rows that may share an 8-gram before it is ignored."""
MIX, STEP = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
"""The constants of SplitMix64; odd, so multiplying by them modulo 2**64 is a bijection."""


@dataclass(frozen=True)
class Overlap:
    """An 8-gram of the queried text that is in the index."""

    row: str
    """The indexed row that contains it."""
    word: int
    """0-based position of its first word in the queried text."""


class NgramIndex:
    """The 8-grams of (row, text) pairs; a row has one or more consecutive texts."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        import numpy as np

        self._words: dict[str, int] = {}
        self.rows: list[str] = []
        """Name of every row, in input order."""
        ids: list[int] = []
        ends: list[int] = []
        owners: list[int] = []
        for row, text in texts:
            if not self.rows or self.rows[-1] != row:
                self.rows.append(row)
            ids += [self._words.setdefault(word, len(self._words)) for word in words_of(text)]
            ends.append(len(ids))
            owners.append(len(self.rows) - 1)
        hashes = _hashes(np.array(ids, dtype=np.uint64))
        text_of = np.repeat(np.arange(len(ends)), np.diff(np.array([0, *ends])))
        within_text = text_of[: len(hashes)] == text_of[len(ids) - len(hashes) :]
        text_of = text_of[: len(hashes)][within_text]
        row_of = np.array(owners, dtype=np.int64)[text_of]
        self._hashes, self._first = _drop_common(hashes[within_text], row_of, text_of)

    def __len__(self) -> int:
        """Number of distinct 8-grams."""
        return len(self._hashes)

    def find(self, text: str) -> Overlap | None:
        """The first 8-gram of `text` that is in the index; None if there is none."""
        import numpy as np

        if not len(self._hashes):
            return None
        ids = [self._words.get(word, -1) for word in words_of(text)]
        hashes = _hashes(np.array(ids, dtype=np.int64).astype(np.uint64))
        places = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        for start in np.flatnonzero(self._hashes[places] == hashes):
            if -1 not in ids[start : start + SIZE]:
                return Overlap(self.rows[self._first[places[start]]], int(start))
        return None


def _hashes(ids: np.ndarray) -> np.ndarray:
    """The hash of each window of `SIZE` ids, uint64: (N,) -> (N - SIZE + 1,); empty if N < SIZE."""
    import numpy as np

    count = max(0, len(ids) - SIZE + 1)
    mixed = (ids + np.uint64(1)) * np.uint64(MIX)
    mixed ^= mixed >> np.uint64(31)
    hashes = np.zeros(count, dtype=np.uint64)
    for offset in range(SIZE if count else 0):
        hashes = hashes * np.uint64(STEP) + mixed[offset : offset + count]
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _drop_common(hashes: np.ndarray, row_of: np.ndarray, text_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The hashes to index, unique and sorted, and the first row of each.

    Keeps hashes that at most `COMMON` rows share, and every hash of a text that has no such hash.
    """
    import numpy as np

    order = np.lexsort((row_of, hashes))
    hashes, row_of, text_of = hashes[order], row_of[order], text_of[order]
    new_pair = np.ones(len(hashes), dtype=bool)
    new_pair[1:] = (hashes[1:] != hashes[:-1]) | (row_of[1:] != row_of[:-1])
    unique, first, count = np.unique(hashes[new_pair], return_index=True, return_counts=True)
    kept = count <= COMMON
    place = np.searchsorted(unique, hashes)
    has_kept = np.zeros(text_of.max(initial=-1) + 1, dtype=bool)
    has_kept[text_of[kept[place]]] = True
    kept[place[~has_kept[text_of]]] = True
    return unique[kept], row_of[new_pair][first[kept]]
