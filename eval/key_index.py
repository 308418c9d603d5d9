"""A whole number for each of very many keys, such as the place of a row: 16 bytes a key, where a dict takes 150.

Keys are told apart by 64 bits: a content hash by its own, any other key by those of its SHA-256.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator

CONTENT_HASH = re.compile("[0-9a-f]{16}")
UNSORTED = 8192
"""Keys that may wait to be sorted in among the others."""


class KeyIndex:
    """A mapping that only grows: two arrays in the order of the keys, and a small dict of those that came last."""

    def __init__(self) -> None:
        self._keys, self._numbers = memoryview(array("Q")), memoryview(array("q"))
        self._unsorted: dict[int, int] = {}

    def __setitem__(self, key: str, number: int) -> None:
        """Keep `number`, of 64 bits with its sign, for `key`."""
        self._unsorted[bits_of(key)] = number
        if len(self._unsorted) > max(UNSORTED, len(self._keys) // 64):
            self._sort_in()

    def __getitem__(self, key: str) -> int:
        number = self.get(key)
        if number is None:
            raise KeyError(key)
        return number

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __len__(self) -> int:
        self._sort_in()
        return len(self._keys)

    def get(self, key: str) -> int | None:
        """The number of `key`; None without one."""
        bits = bits_of(key)
        if bits in self._unsorted:
            return self._unsorted[bits]
        place = bisect_left(self._keys, bits)
        return self._numbers[place] if place < len(self._keys) and self._keys[place] == bits else None

    def by_number(self) -> Iterator[tuple[int, int]]:
        """The 64 bits of every key with its number, by size of the number; what is set meanwhile does not show."""
        import numpy as np

        self._sort_in()
        keys, numbers = self._keys, self._numbers
        return ((keys[place], numbers[place]) for place in np.argsort(numbers).data)

    def _sort_in(self) -> None:
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


def bits_of(key: str) -> int:
    """The 64 bits that a key is known by."""
    if CONTENT_HASH.fullmatch(key):
        return int(key, 16)
    return int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:8])
