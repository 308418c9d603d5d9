"""An epoch visits every example once, in batches of similar length, in an order set by seed and epoch."""

from __future__ import annotations

import random

import pytest

from train.example_order import POOL, ExampleOrder

LENGTHS = random.Random(5).choices(range(20, 500), k=8 * POOL * 2 + 13)


def order(epoch: int = 0, seed: int = 0, lengths=LENGTHS) -> list[int]:
    made = ExampleOrder(lengths, 8, seed)
    made.set_epoch(epoch)
    return list(made)


def test_every_example_is_seen_once():
    assert sorted(order()) == list(range(len(LENGTHS))) and len(ExampleOrder(LENGTHS, 8, 0)) == len(LENGTHS)


def test_seed_and_epoch_decide_and_nothing_else():
    first = order()
    random.seed(99)
    assert order() == first
    assert order(epoch=1) != first != order(seed=1)
    assert order(epoch=1) == order(epoch=1)


def padding(indices: list[int]) -> int:
    batches = [indices[start : start + 8] for start in range(0, len(indices), 8)]
    return sum(max(LENGTHS[i] for i in batch) * len(batch) - sum(LENGTHS[i] for i in batch) for batch in batches)


def test_batches_hold_examples_of_like_length():
    shuffled = random.Random(1).sample(range(len(LENGTHS)), len(LENGTHS))
    assert padding(order()) < padding(shuffled) / 5


def test_long_and_short_batches_are_mixed():
    indices = order()
    longest = [max(LENGTHS[i] for i in indices[start : start + 8]) for start in range(0, len(indices) - 8, 8)]
    assert longest != sorted(longest) and longest != sorted(longest, reverse=True)


@pytest.mark.parametrize("count", [1, 7, 8, 9])
def test_an_incomplete_batch_is_the_last(count):
    assert sorted(order(lengths=LENGTHS[:count])) == list(range(count))


def test_blank_rows_come_after_all_examples():
    made = ExampleOrder(LENGTHS, 8, 0, blanks=3)
    indices = list(made)
    count = len(LENGTHS)
    assert len(made) == count + 3 and indices[count:] == [count, count + 1, count + 2]
    assert indices[:count] == order()
