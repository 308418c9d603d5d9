"""Agreement between reviewers, and with the judges of the runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eval.review_bench.items import ReviewItem
from eval.review_bench.reviewer_agreement import COLUMNS, agreement_table
from eval.review_bench.store import ReviewStore


@pytest.fixture
def reviewed(tmp_path: Path, item_of: Callable[..., ReviewItem]) -> ReviewStore:
    """Ten items, judged by j0 alone; Ada has decided all, Ben all but the last; they differ on two binaries."""
    items = [item_of(n, n < 5) for n in range(10)]
    store = ReviewStore.create(tmp_path / "review.sqlite", items, {"sample": "balanced:10", "seed": 0, "gated": False})
    for position in range(1, 11):
        store.record("Ada", position, genuine=position <= 5)
        store.record("Ada", position, label="generic_followup" if position <= 5 else "other")
        if position < 10:
            store.record("Ben", position, genuine=position <= 3)
            store.record("Ben", position, label="generic_followup" if position <= 3 else "meta_planning")
    store.record("Ben", 10, label="other")
    return store


def about(number: float) -> object:
    """As a cell rounds it."""
    return pytest.approx(number, abs=1e-4)


def test_each_pair_is_compared_on_what_both_decided_in_full(reviewed: ReviewStore) -> None:
    table = agreement_table(reviewed)
    rows = {row[0].text: {column: cell.value for column, cell in zip(COLUMNS, row, strict=True)} for row in table.rows}
    assert list(rows) == ["Ada / Ben", "Ada / j0", "Ben / j0"]
    assert rows["Ada / j0"]["kappa"] == 1 and rows["Ada / j0"]["label agree %"] == 100 and rows["Ada / j0"]["n"] == 10
    pair = rows["Ada / Ben"]
    assert pair["n"] == 9
    assert (pair["agree %"], pair["label agree %"]) == (about(700 / 9), about(300 / 9))
    binary = table.rows[0][COLUMNS.index("kappa")]
    assert binary.low < binary.value < binary.high and "[" in binary.text, "with its interval"
    chance = (5 / 9) * (3 / 9) + (4 / 9) * (6 / 9)
    assert pair["kappa"] == about((7 / 9 - chance) / (1 - chance))
    assert (pair["first yes %"], pair["second yes %"]) == (about(500 / 9), about(300 / 9))


def test_the_notes_say_how_much_was_decided_and_that_the_sample_is_balanced(reviewed: ReviewStore) -> None:
    notes = agreement_table(reviewed).notes
    assert notes[:2] == ("Ada: 10 of 10 items decided completely", "Ben: 9 of 10 items decided completely")
    assert "bootstrap interval" in notes[2] and "not to the runs" in notes[3]


def test_nothing_decided_is_unknown_and_no_score(store: ReviewStore) -> None:
    assert agreement_table(store).rows == ()
    store.record("Ada", 1, genuine=True)
    rows = agreement_table(store).rows
    assert [(row[1].value, row[5].value) for row in rows] == [(0, None), (0, None)]
    assert all("balanced" not in note for note in agreement_table(store).notes)
