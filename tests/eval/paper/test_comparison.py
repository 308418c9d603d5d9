"""Two runs on the same rows, counted by hand: who is paired, what is left out, whose text changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from eval.dialogue import Dialogue, Failure, Message
from eval.paper.comparison import Comparison, compare, outcomes_of
from eval.stats.paired import Pairs
from eval.stats.rates import Rate

RowOf = Callable[..., Dialogue]
SPECIFIC, GENERIC, RESTATED = "genuine_followup", "generic_followup", "previous_turn_restate"


def compared(first: Iterable[Dialogue], second: Iterable[Dialogue]) -> list[Comparison]:
    return compare(outcomes_of(first), outcomes_of(second))


def unjudged(row: Dialogue) -> Dialogue:
    """The row as a judge leaves it that failed: with its user turn."""
    return replace(row, judgement=None, failure=Failure("judge", "timeout"))


def unspoken(row: Dialogue) -> Dialogue:
    """The row as a model leaves it that failed: without a user turn."""
    return replace(row, messages=row.messages[:-1], judgement=None, failure=Failure("generate", "empty"))


def skipped(task: str, number: int, row_of: RowOf) -> Dialogue:
    row = row_of(task, number)
    return replace(row, messages=row.messages[:1], judgement=None, failure=Failure("load", "no_reference"))


def test_pairs_and_changes_by_hand(row_of: RowOf) -> None:
    first = [
        row_of("gsm8k", 0, SPECIFIC, True, turn="same"),
        row_of("gsm8k", 1, RESTATED, False, turn="old"),
        row_of("gsm8k", 2, RESTATED, False, turn="same"),
        row_of("gsm8k", 3, GENERIC, True, turn="old"),
        row_of("gsm8k", 4, RESTATED, False, turn="old"),
        unspoken(row_of("gsm8k", 5)),
        row_of("gsm8k", 6, SPECIFIC, True),
        skipped("gsm8k", 7, row_of),
    ]
    second = [
        row_of("gsm8k", 3, GENERIC, True, turn="new"),
        row_of("gsm8k", 2, RESTATED, False, turn="same"),
        row_of("gsm8k", 1, SPECIFIC, True, turn="new"),
        row_of("gsm8k", 0, GENERIC, True, turn="same"),
        unjudged(row_of("gsm8k", 4, turn="new")),
        row_of("gsm8k", 5, SPECIFIC, True),
        skipped("gsm8k", 7, row_of),
        row_of("gsm8k", 8, SPECIFIC, True),
    ]
    (found,) = compared(first, second)
    assert (found.task, found.setting) == ("gsm8k", "self-generated")
    assert found.genuine == Pairs(both=2, only_first=0, only_second=1, neither=1, left_out=5)
    assert found.specific == Pairs(both=0, only_first=1, only_second=1, neither=2, left_out=5)
    assert found.changed == Rate(3, 5), "a turn that no judge could read still changed"


def test_each_task_and_setting_stands_alone(row_of: RowOf) -> None:
    rows = [
        row_of("coval", 0, SPECIFIC, True, held_out=True),
        row_of("gsm8k", 0, SPECIFIC, True),
        row_of("chat", 0, SPECIFIC, True, held_out=True),
        row_of("chat", 1, SPECIFIC, True),
    ]
    found = compared(rows, reversed(rows))
    assert [(one.task, one.setting) for one in found] == [
        ("chat", "held-out"),
        ("chat", "self-generated"),
        ("coval", "held-out"),
        ("gsm8k", "self-generated"),
    ]
    assert all(one.genuine == Pairs(1, 0, 0, 0) and one.changed == Rate(0, 1) for one in found)


def test_the_setting_is_that_of_the_run_that_shows_it(row_of: RowOf) -> None:
    row = row_of("gsm8k", 0, SPECIFIC, True)
    for first, second in ((row, unspoken(row)), (unspoken(row), row)):
        (found,) = compared([first], [second])
        assert found.setting == "self-generated"
        assert found.genuine == Pairs(0, 0, 0, 0, left_out=1)
        assert found.changed == Rate(0, 0)


def test_a_perturbed_answer_keeps_its_row(row_of: RowOf) -> None:
    row = row_of("gsm8k", 0, RESTATED, False, turn="old")
    query, answer, _ = row.messages
    cut = replace(row, messages=(query, replace(answer, text=""), Message("user", "Go on", "tiny@0123", "stop")))
    (found,) = compared([row], [cut])
    assert found.changed == Rate(1, 1)


@pytest.mark.parametrize("rows", [[], ()])
def test_no_rows_are_no_comparison(rows) -> None:
    assert compared(rows, rows) == []
