"""Samples: seeded, shuffled, weighted."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from eval.config import ConfigError
from eval.review_bench.items import ReviewItem
from eval.review_bench.sampling import Sample, decision, draw

ItemOf = Callable[..., ReviewItem]


def numbers(items: list[ReviewItem]) -> list[str]:
    return [item.turn.text for item in items]


@pytest.mark.parametrize("text", ["all", "random:7", "balanced:200"])
def test_a_sample_is_read_and_written(text: str) -> None:
    assert str(Sample.parse(text)) == text


@pytest.mark.parametrize("text", ["", "random", "random:0", "random:-1", "balanced:x", "all:3", "random:1e3"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a valid sample"):
        Sample.parse(text)


def test_the_seed_decides_and_the_order_of_the_rows_does_not(item_of: ItemOf) -> None:
    items = [item_of(n, n % 7 == 0) for n in range(100)]
    shuffled = random.Random(5).sample(items, 100)
    for text in ("all", "random:20", "balanced:20"):
        one, two, other = (
            numbers(draw(given, Sample.parse(text), seed)) for given, seed in ((items, 3), (shuffled, 3), (items, 4))
        )
        assert one == two != other
        assert len(set(one)) == len(one) == (100 if text == "all" else 20)
        assert one != sorted(one)


def test_random_keeps_the_prevalence(item_of: ItemOf) -> None:
    items = [item_of(n, n < 200) for n in range(1000)]
    shares = [sum(i.judgements[0].genuine for i in draw(items, Sample("random", 100), seed)) for seed in range(30)]
    assert 18 < sum(shares) / len(shares) < 22


def test_balanced_takes_half_and_half_of_one_judge(item_of: ItemOf) -> None:
    drawn = draw([item_of(n, n < 30) for n in range(1000)], Sample("balanced", 40), 0)
    assert Counter(map(decision, drawn)) == {"genuine": 20, "not genuine": 20}
    assert {decision(item): item.weight for item in drawn} == {"genuine": 1.5, "not genuine": 48.5}
    assert sum(item.weight for item in drawn) == pytest.approx(1000)


def test_balanced_takes_hard_cases_where_judges_split(item_of: ItemOf) -> None:
    votes = {0: (True, True), 1: (False, False), 2: (True, False)}
    drawn = draw([item_of(n, *votes[n % 3]) for n in range(99)], Sample("balanced", 31), 0)
    assert sorted(Counter(map(decision, drawn)).values()) == [10, 10, 11]


def test_what_one_group_lacks_the_others_give(item_of: ItemOf) -> None:
    items = [item_of(n, *([n < 3] if n < 50 else [])) for n in range(60)]
    drawn = draw(items, Sample("balanced", 20), 0)
    assert Counter(map(decision, drawn)) == {"genuine": 3, "not genuine": 17}, "and nothing that no judge has decided"
    assert len(draw(items, Sample("balanced", 500), 0)) == 50
    assert len(draw(items, Sample("random", 500), 0)) == 60


def test_nothing_to_draw_from_is_said(item_of: ItemOf) -> None:
    with pytest.raises(ConfigError, match="nothing to review"):
        draw([], Sample("all", None), 0)
    with pytest.raises(ConfigError, match="balanced:3"):
        draw([item_of(1)], Sample("balanced", 3), 0)
