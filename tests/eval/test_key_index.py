"""The index of keys against a dict, past the point where keys are sorted in, and what it takes of memory."""

from __future__ import annotations

import tracemalloc
from random import Random

import numpy as np
import pytest

from eval import key_index
from eval.dialogue import content_hash
from eval.key_index import KeyIndex, bits_of


@pytest.mark.parametrize("unsorted", [0, 3, 50, 10_000])
def test_it_holds_what_a_dict_holds(monkeypatch: pytest.MonkeyPatch, unsorted: int) -> None:
    monkeypatch.setattr(key_index, "UNSORTED", unsorted)
    random, index, plain = Random(0), KeyIndex(), dict[str, int]()
    assert not len(index) and index.get("0") is None and list(index.by_number()) == []
    for turn in range(600):
        number = random.choice([0, 1, -1, 2**63 - 1, -(2**63), random.randrange(10**9)])
        key = str(random.randrange(200))
        index[content_hash(key)] = plain[content_hash(key)] = number
        index[f"key \ud83d {key}"] = plain[f"key \ud83d {key}"] = number
        if turn % 7 == 0:
            assert all(index[key] == number for key, number in plain.items())
    assert len(index) == len(plain)
    assert dict(index.by_number()) == {bits_of(key): number for key, number in plain.items()}
    assert [number for _, number in index.by_number()] == sorted(plain.values())
    assert "none" not in index and index.get(content_hash("none")) is None
    with pytest.raises(KeyError, match="none"):
        index["none"]


def test_a_content_hash_is_known_by_its_own_bits() -> None:
    assert f"{bits_of(content_hash('a')):016x}" == content_hash("a")
    like_hashes = ["000000000000000a", "A", "a", "000000000000000A", "0x0000000000000a", "000000000000000a\n"]
    assert len({bits_of(key) for key in like_hashes}) == len(like_hashes)


def test_what_is_set_while_numbers_are_read_does_not_show() -> None:
    index = KeyIndex()
    index["a"], index["b"] = 1, 2
    read = index.by_number()
    index["a"], index["c"] = 3, 0
    assert [number for _, number in read] == [1, 2]
    assert [number for _, number in index.by_number()] == [0, 2, 3]


def test_a_key_takes_sixteen_bytes() -> None:
    np.argsort([0])  # what numpy makes on its first use is no key's
    tracemalloc.start()
    try:
        index = KeyIndex()
        for number in range(100_000):
            index[f"{number:016x}"] = number
        assert len(index) == 100_000
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 100_000 * 16 + 100_000
