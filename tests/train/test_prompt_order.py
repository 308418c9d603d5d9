"""The order of prompts: full shuffles, groups, reused batches, and the same order in a resumed run."""

from __future__ import annotations

from itertools import islice

import pytest

from train.prompt_order import PromptOrder

LAYOUT = {"batch": 2, "group": 3, "repeats": 2, "batches": 5, "seed": 0}


def batches(order: PromptOrder) -> list[list[int]]:
    ids = list(order)
    return [ids[start : start + 6] for start in range(0, len(ids), 6)]


def test_a_prompt_fills_its_group_and_a_batch_comes_as_often_as_it_is_used() -> None:
    order = PromptOrder(4, **LAYOUT)
    found = batches(order)
    assert len(list(order)) == len(order) == 60
    for batch in found:
        assert batch[:3] == [batch[0]] * 3 and batch[3:] == [batch[3]] * 3
    assert found[0::2] == found[1::2]


def test_all_prompts_come_before_one_comes_again() -> None:
    chosen = [batch[place] for batch in batches(PromptOrder(4, **LAYOUT))[::2] for place in (0, 3)]
    assert sorted(chosen[:4]) == sorted(chosen[4:8]) == [0, 1, 2, 3]


def test_fewer_prompts_than_a_batch_are_used_again_at_once() -> None:
    chosen = [prompt for batch in batches(PromptOrder(1, **LAYOUT)) for prompt in batch]
    assert set(chosen) == {0} and len(chosen) == 60


@pytest.mark.parametrize("batches_of_run", [1, 3, 5])
def test_the_order_depends_on_the_seed_and_not_on_the_length_of_the_run(batches_of_run: int) -> None:
    short = PromptOrder(4, **{**LAYOUT, "batches": batches_of_run})
    assert list(short) == list(islice(PromptOrder(4, **LAYOUT), len(short)))
    assert list(PromptOrder(4, **{**LAYOUT, "seed": 1})) != list(PromptOrder(4, **LAYOUT))
