"""Advantages of groups computed by hand, and the tokens that get them."""

from __future__ import annotations

import math

import pytest

from train.turn_credit import SOFTENING, advantages, by_turn

TURNS = {"gsm8k": "assistant", "followup": "user"}


def rows(*pairs: tuple[float | None, float | None]) -> list[dict[str, float | None]]:
    return [{"gsm8k": first, "followup": second} for first, second in pairs]


def test_each_reward_is_compared_within_its_group_on_its_own() -> None:
    found = advantages(rows((1, 0), (0, 0), (0, 0), (0, 0), (1, 1), (1, 0), (1, 1), (1, 0)), 4, "group")
    # First group, gsm8k: mean 1/4, deviation sqrt((9 + 1 + 1 + 1) / 16 / 3) = 1/2. Its followup has no spread.
    by = 0.5 + SOFTENING
    assert [row["gsm8k"] for row in found[:4]] == pytest.approx([0.75 / by, -0.25 / by, -0.25 / by, -0.25 / by])
    assert [row["followup"] for row in found[:4]] == [0, 0, 0, 0]
    # Second group: gsm8k has no spread; followup has mean 1/2, deviation sqrt(4 / 4 / 3).
    half = 0.5 / (math.sqrt(1 / 3) + SOFTENING)
    assert [row["gsm8k"] for row in found[4:]] == [0, 0, 0, 0]
    assert [row["followup"] for row in found[4:]] == pytest.approx([half, -half, half, -half])


def test_an_episode_with_an_unknown_reward_is_not_in_its_group() -> None:
    found = advantages(rows((1, None), (1, 1), (0, 0), (0, 1)), 4, "none")
    assert found[0] == {"gsm8k": 0, "followup": 0}
    # The rest: gsm8k 1, 0, 0 with mean 1/3; followup 1, 0, 1 with mean 2/3.
    assert [row["gsm8k"] for row in found[1:]] == pytest.approx([2 / 3, -1 / 3, -1 / 3])
    assert [row["followup"] for row in found[1:]] == pytest.approx([1 / 3, -2 / 3, 1 / 3])


def test_a_group_of_one_known_episode_has_nothing_to_compare() -> None:
    found = advantages(rows((1, None), (0, None), (1, 1)), 3, "group")
    assert found == [{"gsm8k": 0, "followup": 0}] * 3


def test_a_group_without_any_known_episode_moves_nothing_in_another_group() -> None:
    alone = advantages(rows((1, 1), (0, 0)), 2, "batch")
    beside = advantages(rows((1, 1), (0, 0), (None, 1), (1, None)), 2, "batch")
    assert beside[:2] == alone and beside[2:] == [{"gsm8k": 0, "followup": 0}] * 2


def test_the_deviation_of_all_groups_divides_with_scale_batch() -> None:
    found = advantages(rows((1, 0), (0, 0), (0, 0), (0, 0)), 2, "batch")
    # 1, 0, 0, 0: deviation 1/2; the first group has mean 1/2.
    assert [row["gsm8k"] for row in found] == pytest.approx([0.5 / (0.5 + SOFTENING), -0.5 / (0.5 + SOFTENING), 0, 0])


def test_a_number_of_episodes_that_groups_do_not_divide_is_refused() -> None:
    with pytest.raises(ValueError, match="5 episodes cannot be divided into groups of 4"):
        advantages(rows(*[(0, 0)] * 5), 4, "group")


def test_credit_by_turn_keeps_a_reward_to_the_turn_that_earned_it() -> None:
    found, weights = {"gsm8k": 2.0, "followup": -1.0}, {"gsm8k": 0.5, "followup": 3.0}
    assert by_turn(found, weights, TURNS, "turn") == {"assistant": 1.0, "user": -3.0}
    assert by_turn(found, weights, TURNS, "episode") == {"assistant": -2.0, "user": -2.0}
