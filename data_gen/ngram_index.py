"""Which text a run of words was seen in: word 8-grams of many texts as sorted 64-bit hashes. It knows no data set.

Words are compared in lower case, without punctuation and without commas in numbers; no 8-gram reaches over the end of
a text. An 8-gram that more than `COMMON` rows share is how such rows are put, and points at none of them (the rule of
arXiv 2005.14165, appendix C, for 13-grams): it is left out, unless a text has no other, as one that many rows repeat.
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
"""Rows that may share an 8-gram; one that more rows have is not looked for."""
MIX, STEP = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
"""Odd 64-bit constants, so that multiplying by them loses nothing (those of the SplitMix64 generator)."""


@dataclass(frozen=True)
class Overlap:
    """An 8-gram of a text that the index holds."""

    row: str
    """Where it was seen."""
    word: int
    """Place of its first word in the text that was looked at, from 0."""


class NgramIndex:
    """The 8-grams of (row, text) pairs. A row has one or more texts."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        import numpy as np

        self._words: dict[str, int] = {}
        self.rows: list[str] = []
        """Name of every row, in the order in which they came."""
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
        inside = text_of[: len(hashes)] == text_of[len(ids) - len(hashes) :]
        text_of = text_of[: len(hashes)][inside]
        self._hashes, self._first = _compared(hashes[inside], np.array(owners, dtype=np.int64)[text_of], text_of)

    def __len__(self) -> int:
        """How many different 8-grams it holds."""
        return len(self._hashes)

    def find(self, text: str) -> Overlap | None:
        """The first 8-gram of `text` that the index holds."""
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
    """The hash of each run of `SIZE` ids, uint64 (N,) to (N - SIZE + 1,); empty if there are fewer."""
    import numpy as np

    count = max(0, len(ids) - SIZE + 1)
    mixed = (ids + np.uint64(1)) * np.uint64(MIX)
    mixed ^= mixed >> np.uint64(31)
    hashes = np.zeros(count, dtype=np.uint64)
    for offset in range(SIZE if count else 0):
        hashes = hashes * np.uint64(STEP) + mixed[offset : offset + count]
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _compared(hashes: np.ndarray, row_of: np.ndarray, text_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The hashes that are looked for, sorted, and the first row of each.

    Those that at most `COMMON` rows have, and all of a text that has no such one.
    """
    import numpy as np

    order = np.lexsort((row_of, hashes))
    hashes, row_of, text_of = hashes[order], row_of[order], text_of[order]
    new_pair = np.ones(len(hashes), dtype=bool)
    new_pair[1:] = (hashes[1:] != hashes[:-1]) | (row_of[1:] != row_of[:-1])
    unique, first, count = np.unique(hashes[new_pair], return_index=True, return_counts=True)
    kept = count <= COMMON
    place = np.searchsorted(unique, hashes)
    has_one = np.zeros(text_of.max(initial=-1) + 1, dtype=bool)
    has_one[text_of[kept[place]]] = True
    kept[place[~has_one[text_of]]] = True
    return unique[kept], row_of[new_pair][first[kept]]
