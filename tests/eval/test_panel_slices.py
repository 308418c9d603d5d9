"""Which rows are in each slice, whatever the order that they come in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eval.panel_slices import RANDOM_SHARE, balanced_slice, random_slice, split_slice

YES = st.lists(st.booleans(), max_size=300)


def ids(yes: list[bool]) -> list[str]:
    return [f"row {place}" for place in range(len(yes))]


@given(YES)
def test_the_random_slice_keeps_the_share_of_yes(yes: list[bool]) -> None:
    chosen = [answer for answer, inside in zip(yes, random_slice(ids(yes), yes), strict=True) if inside]
    assert abs(sum(chosen) - RANDOM_SHARE * sum(yes)) <= 0.5
    assert abs(len(chosen) - RANDOM_SHARE * len(yes)) <= 1


@given(YES)
def test_the_balanced_slice_is_all_of_the_rarer_answer_and_as_many_of_the_other(yes: list[bool]) -> None:
    chosen = [answer for answer, inside in zip(yes, balanced_slice(ids(yes), yes), strict=True) if inside]
    assert sum(chosen) * 2 == len(chosen) == 2 * min(sum(yes), len(yes) - sum(yes))


@given(YES.filter(bool), st.randoms())
def test_a_draw_does_not_depend_on_the_order_of_the_rows(yes: list[bool], random: object) -> None:
    rows = list(zip(ids(yes), yes, strict=True))
    shuffled = rows[:]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for draw in (random_slice, balanced_slice):
        drawn = []
        for order in (rows, shuffled):
            names, answers = zip(*order, strict=True)
            drawn.append({name for name, inside in zip(names, draw(names, answers), strict=True) if inside})
        assert drawn[0] == drawn[1]


def test_the_draw_is_no_prefix() -> None:
    yes = [True] * 100
    inside = random_slice(ids(yes), yes)
    assert sum(inside) == 25 and 0 < sum(inside[:50]) < 25


def test_a_split_needs_a_yes_and_a_no() -> None:
    assert split_slice([[True, True, None, None], [True, False, True, None], [True, None, False, False]]) == [
        False,
        True,
        True,
        False,
    ]
