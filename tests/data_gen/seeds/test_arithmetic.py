"""Arithmetic problems with solutions: always graded as correct, train split only, varied wording."""

from __future__ import annotations

import re

from data_gen.seeds import arithmetic
from eval.tasks.arithmetic import check, load


def test_every_solution_is_right_and_shows_the_calculation() -> None:
    seeds = arithmetic.load()
    assert len(seeds) == 1600
    for seed in seeds:
        assert [message.role for message in seed.messages] == ["user", "assistant"]
        assert seed.correct and check(seed)
        calculation = re.search(r"(\d+) ([-+*]) (\d+) = (\d+)", seed.messages[1].text)
        assert calculation and calculation[4] == seed.reference, seed.messages[1].text
        assert {calculation[1], calculation[3]} <= set(re.findall(r"\d+", seed.messages[0].text))


def test_no_test_problem_is_a_seed() -> None:
    tested = {dialogue.messages[0].text for dialogue in load(split="test")}
    assert not tested & {seed.messages[0].text for seed in arithmetic.load()}


def test_solutions_vary_in_wording() -> None:
    shapes = {re.sub(r"\d+|[a-z]+s\b", "_", seed.messages[1].text) for seed in arithmetic.load()}
    assert len(shapes) >= 10


def test_a_larger_limit_only_adds_problems() -> None:
    few, more = arithmetic.load(5, seed=3), arithmetic.load(50, seed=3)
    assert [seed.id for seed in few] == [seed.id for seed in more][:5]
