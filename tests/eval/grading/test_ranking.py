"""The option with the best mean rank, computed by hand."""

from __future__ import annotations

import pytest

from eval.grading.ranking import best_ranked


@pytest.mark.parametrize(
    ("rankings", "best"),
    [
        (["A>B>C>D"], "A"),
        (["D > C=B > A"], "D"),
        (["A>B>C>D", "B>C>A>D"], "B"),  # means 2, 1.5, 2.5, 4
        (["A=B=C=D", "C>A=B=D"], "C"),
        (["A=B>C=D", "D>A=B=C"], "A"),  # means 2.25, 2.25, 3.25, 2.25
        (["B=A>C>D"], "A"),
        ([], None),
        (["A>B>C", "A>B>C>D>E", "A>A>B>C", "", "A>B>C>D junk"], None),
        (["A>B>C", "C>B>A>D"], "C"),
    ],
)
def test_the_best_option(rankings: list[str], best: str | None) -> None:
    assert best_ranked(rankings, "ABCD") == best


def test_without_options_there_is_no_best() -> None:
    assert best_ranked(["A>B"], []) is None
