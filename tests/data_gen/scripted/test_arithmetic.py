"""Sums are found as they are written, checked, and worked out with another number."""

from __future__ import annotations

import pytest

from data_gen.scripted.arithmetic import Sum, sums, written


def only(text: str) -> Sum:
    (found,) = sums(text)
    return found


@pytest.mark.parametrize(
    ("text", "left", "result", "holds"),
    [
        ("Natural: 48/2 = 24 clips.", "48/2", "24", True),
        ("she pays $1,200 - $200 = $1,000 in all", "$1,200 - $200", "$1,000", True),
        ("that is 2.5 x 4 = 10", "2.5 x 4", "10", True),
        ("10 \u00f7 3 = 3.33 each", "10 \u00f7 3", "3.33", True),
        ("9 + 2 = 7", "9 + 2", "7", False),
        ("10 / 3 = 3", "10 / 3", "3", True),
    ],
)
def test_a_sum_is_read_and_checked_to_the_places_it_was_written_with(
    text: str, left: str, result: str, holds: bool
) -> None:
    found = only(text)
    assert (found.left, found.result, found.holds) == (left, result, holds)


@pytest.mark.parametrize(
    "text",
    [
        "1/2 x 8 = 4",
        "40 x 1/10 = 4",
        "71 + 64 + 80 + 77 = 292",
        "24V = 141 - 15 - 6 = $120",
        "2/3*30 = 20",
        "x3 + 4 = 7",
        "$3 + $60 + $8 = $71",
    ],
)
def test_the_end_of_a_longer_calculation_is_no_sum(text: str) -> None:
    """Else the teacher would call a right line wrong."""
    assert not list(sums(text))


@pytest.mark.parametrize("text", ["x = 5", "2024-11-29", "5 / 0 = 1", "1 + 2 = 3 + 4", "80% * 2 = 160%", "v1.2-3 = 4 "])
def test_what_is_no_sum_of_two_numbers_is_left(text: str) -> None:
    assert all(sum.second not in {"0"} for sum in sums(text))
    assert "%" not in "".join(sum.expression for sum in sums(text))


@pytest.mark.parametrize("first", range(1, 9))
def test_a_changed_sum_has_another_first_number_and_holds(first: int) -> None:
    sum = only(f"{first} * 6 = {first * 6}")
    changed = sum.changed()
    assert changed.first != sum.first and changed.second == sum.second and changed.holds


@pytest.mark.parametrize("first", [1200, 54000, 300000, 999999])
def test_a_large_number_is_changed_by_more_than_a_little(first: int) -> None:
    changed = only(f"{first:,} - 100 = {first - 100:,}").changed()
    assert abs(int(changed.first) - first) >= first / 100 and changed.holds


def test_a_changed_amount_of_money_stays_one() -> None:
    changed = only("$40 - $15 = $25").changed()
    assert changed.first.startswith("$") and changed.result.startswith("$")


def test_a_value_is_written_as_people_do() -> None:
    from fractions import Fraction

    assert [written(Fraction(n, d), "1") for n, d in [(3, 1), (1, 3), (-5, 2), (0, 1)]] == ["3", "0.33", "-2.5", "0"]
