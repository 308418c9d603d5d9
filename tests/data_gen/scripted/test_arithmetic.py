"""Equations are extracted as written, checked, and recomputed with another number."""

from __future__ import annotations

from fractions import Fraction

import pytest

from data_gen.scripted.arithmetic import Sum, format_number, sums


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
def test_an_equation_is_checked_to_the_decimal_places_it_is_written_with(
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
def test_the_end_of_a_longer_calculation_is_not_an_equation_of_its_own(text: str) -> None:
    """Otherwise the teacher would call a correct line wrong."""
    assert not list(sums(text))


@pytest.mark.parametrize("text", ["x = 5", "2024-11-29", "5 / 0 = 1", "1 + 2 = 3 + 4", "80% * 2 = 160%", "v1.2-3 = 4 "])
def test_other_text_is_not_taken_for_an_equation_of_two_numbers(text: str) -> None:
    assert all(sum.second not in {"0"} for sum in sums(text))
    assert "%" not in "".join(sum.expression for sum in sums(text))


@pytest.mark.parametrize("first", range(1, 9))
def test_a_changed_sum_has_another_first_number_and_holds(first: int) -> None:
    sum = only(f"{first} * 6 = {first * 6}")
    changed = sum.changed()
    assert changed.first != sum.first and changed.second == sum.second and changed.holds


@pytest.mark.parametrize("first", [1200, 54000, 300000, 999999])
def test_a_large_number_changes_by_at_least_one_percent(first: int) -> None:
    changed = only(f"{first:,} - 100 = {first - 100:,}").changed()
    assert abs(int(changed.first) - first) >= first / 100 and changed.holds


def test_a_changed_amount_keeps_its_dollar_sign() -> None:
    changed = only("$40 - $15 = $25").changed()
    assert changed.first.startswith("$") and changed.result.startswith("$")


def test_numbers_are_formatted_with_at_most_two_decimals() -> None:
    values = [Fraction(n, d) for n, d in [(3, 1), (1, 3), (-5, 2), (0, 1)]]
    assert [format_number(value, "1") for value in values] == ["3", "0.33", "-2.5", "0"]
