"""An integer for each of very many string keys, such as the byte offset of a row, in little memory."""

from __future__ import annotations

import hashlib
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator

CONTENT_HASH = re.compile("[0-9a-f]{16}")
UNSORTED = 8192
"""New keys that are buffered before they are merged into the sorted arrays."""


class KeyIndex:
    """A compact str -> int64 map: 16 bytes per key instead of a dict's 150. Keys are identified by 64 bits.

    It only grows: two arrays sorted by key, and a small dict of the latest keys.
    """

    def __init__(self) -> None:
        self._keys, self._numbers = memoryview(array("Q")), memoryview(array("q"))
        self._unsorted: dict[int, int] = {}

    def __setitem__(self, key: str, number: int) -> None:
        self._unsorted[bits_of(key)] = number
        if len(self._unsorted) > max(UNSORTED, len(self._keys) // 64):
            self._merge_unsorted()

    def __getitem__(self, key: str) -> int:
        number = self.get(key)
        if number is None:
            raise KeyError(key)
        return number

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __len__(self) -> int:
        self._merge_unsorted()
        return len(self._keys)

    def get(self, key: str) -> int | None:
        """The number of `key`, or None."""
        bits = bits_of(key)
        if bits in self._unsorted:
            return self._unsorted[bits]
        place = bisect_left(self._keys, bits)
        return self._numbers[place] if place < len(self._keys) and self._keys[place] == bits else None

    def by_number(self) -> Iterator[tuple[int, int]]:
        """(64 bits of the key, number) in ascending order of the numbers, as of this call."""
        import numpy as np

        self._merge_unsorted()
        keys, numbers = self._keys, self._numbers
        return ((keys[place], numbers[place]) for place in np.argsort(numbers).data)

    def _merge_unsorted(self) -> None:
        if not self._unsorted:
            return
        import numpy as np

        new = np.fromiter(self._unsorted, np.uint64)
        order = np.argsort(new)
        new, added = new[order], np.fromiter(self._unsorted.values(), np.int64)[order]
        keys, numbers = np.asarray(self._keys), np.array(self._numbers)
        places = np.searchsorted(keys, new)
        known = places < np.searchsorted(keys, new, side="right")
        numbers[places[known]] = added[known]
        self._keys = np.insert(keys, places[~known], new[~known]).data
        self._numbers = np.insert(numbers, places[~known], added[~known]).data
        self._unsorted = {}


def pack(high: int, low: int, low_size: int) -> int:
    """Two integers in one: `high`, by which packed values are ordered, and `low` in [0, low_size)."""
    assert 0 <= low < low_size
    return high * low_size + low


def unpack(packed: int, low_size: int) -> tuple[int, int]:
    """(high, low) of `pack`."""
    return divmod(packed, low_size)


def bits_of(key: str) -> int:
    """The 64 bits that identify a key: those of a content hash, or else the first of its SHA-256."""
    if CONTENT_HASH.fullmatch(key):
        return int(key, 16)
    return int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:8])
