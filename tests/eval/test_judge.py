from __future__ import annotations

from eval.judge import used_between


def test_numbers_are_differences_and_all_else_is_what_is_known_last() -> None:
    before = {"questions": {"judged": 3, "refusal": 1}, "tokens": 10, "dollars": 0.1, "prices_of": "2026-01-01"}
    after = {
        "questions": {"judged": 5, "refusal": 1, "empty": 2},
        "tokens": 10,
        "dollars": 0.3,
        "prices_of": "2026-01-01",
    }
    assert used_between(before, after) == {
        "questions": {"judged": 2, "empty": 2},
        "tokens": 0,
        "dollars": 0.2,
        "prices_of": "2026-01-01",
    }
    assert used_between(after, after)["questions"] == {}


def test_a_judge_that_counts_nothing_or_has_no_price_stays_so() -> None:
    assert used_between({}, {}) == {}
    assert used_between({}, {"tokens": 4, "dollars": None}) == {"tokens": 4, "dollars": None}
    assert used_between({"dollars": None}, {"dollars": None}) == {"dollars": None}
