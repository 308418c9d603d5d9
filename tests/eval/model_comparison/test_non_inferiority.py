"""The gate's decisions on constructed pairs, against other programs and by exact sums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure
from eval.finished_runs import read_run
from eval.model_comparison.measured_model import MeasuredModel, read_model
from eval.model_comparison.non_inferiority import Check, check_all
from eval.stats.paired import holm

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]
Measure = Callable[..., MeasuredModel]


@pytest.fixture
def measure(make_run: MakeRun) -> Measure:
    """(name, rows) -> the model of a run of these rows."""

    def measure(name: str, rows: list[Dialogue]) -> MeasuredModel:
        return read_model(read_run(make_run(name, rows)), name)

    return measure


def right(rows: list[Dialogue], numbers: range | set[int]) -> list[Dialogue]:
    """The rows, with right answers at the numbers alone."""
    return [replace(row, correct=number in numbers) for number, row in enumerate(rows)]


def only(checks: list[Check]) -> Check:
    (check,) = checks
    return check


@pytest.mark.parametrize(
    ("lost", "won", "margin", "result"),
    [
        (30, 0, 5.0, "worse"),
        (30, 0, 20.0, "within"),
        (12, 0, 5.0, "not resolved"),
        (2, 2, 0.0, "not resolved"),
        (0, 0, 0.0, "not resolved"),
        (0, 20, 0.0, "within"),
        (6, 0, 0.0, "worse"),
        (3, 3, 5.0, "within"),
        (200, 0, 100.0, "within"),
    ],
)
def test_each_result_on_200_rows(
    measure: Measure, rows_of: RowsOf, lost: int, won: int, margin: float, result: str
) -> None:
    rows = rows_of("gsm8k", 200 if lost < 200 else 210, 0)
    base = measure("base", right(rows, range(won, 200)))
    new = measure("new", right(rows, set(range(200 - lost)) if lost < 200 else set()))
    check = only(check_all(base, new, {"gsm8k": margin}))
    assert check.result == result
    assert (len(check.turned_bad), len(check.turned_good)) == (lost, won)


def test_a_result_is_read_off_the_interval(measure: Measure, rows_of: RowsOf) -> None:
    """Of one metric: worse where the 90 % interval lies below minus the margin, within where it lies above."""
    rows = rows_of("gsm8k", 100, 0)
    base = measure("base", right(rows, range(60)))
    for lost in (0, 6, 12):
        new = measure(f"new{lost}", right(rows, range(60 - lost)))
        for margin in (0.0, 2.0, 5.0, 10.0):
            check = only(check_all(base, new, {"gsm8k": margin}))
            interval = check.pairs.interval(0.90)
            assert interval
            assert (check.result == "worse") == (interval.high < -margin / 100), (lost, margin)
            assert (check.result == "within") == (interval.low > -margin / 100), (lost, margin)


def test_p_values_are_adjusted_over_the_metrics_of_the_gate(measure: Measure, rows_of: RowsOf) -> None:
    def rows(falls: int) -> list[Dialogue]:
        math = right(rows_of("gsm8k", 60, 0), range(30 - falls))
        return [*math, *rows_of("coval", 60, 30 - 2 * falls, held_out=True), *rows_of("ifbench", 60, 10)]

    base, new = measure("base", rows(0)), measure("new", rows(5))
    alone = only(check_all(base, new, {"gsm8k": 0}))
    together = check_all(base, new, {"gsm8k": 0, "coval": 0, "ifbench": 0})
    raw = [check.pairs.fell_p(0.0) for check in together]
    assert [check.p for check in together] == holm(raw)
    assert alone.result == "worse" and [check.result for check in together] == ["not resolved", "worse", "not resolved"]


def test_rows_that_lost_their_outcome_cannot_open_the_gate(measure: Measure, rows_of: RowsOf) -> None:
    rows = rows_of("coval", 100, 50, held_out=True)
    base = measure("base", rows)

    def without(count: int) -> list[Dialogue]:
        failed = [replace(row, judgement=None, failure=Failure("judge", "timeout")) for row in rows[:count]]
        return [*failed, *rows[count:]]

    few = only(check_all(base, measure("few", without(2)), {"coval": 5}))
    assert (few.result, len(few.lost), few.pairs.n) == ("within", 2, 98)
    many = only(check_all(base, measure("many", without(20)), {"coval": 5}))
    assert (many.result, len(many.lost)) == ("cannot tell", 20)
    unknown_before = measure("before", without(20))
    assert only(check_all(unknown_before, base, {"coval": 5})).result == "within"


def test_rows_of_the_base_that_the_new_run_lacks_are_an_error(measure: Measure, rows_of: RowsOf) -> None:
    whole, part = rows_of("coval", 200, 40), rows_of("coval", 50, 40)
    failed = [replace(row, judgement=None, failure=Failure("judge", "timeout")) for row in whole[50:]]
    base, new = measure("base", whole), measure("new", [*part, *rows_of("gsm8k", 200, 0)])
    with pytest.raises(ConfigError, match="coval: new lacks 150 of the 200 rows that base has; measure both on the"):
        check_all(base, new, {"coval": 5})
    assert only(check_all(base, measure("unjudged", [*part, *failed]), {"coval": 5})).pairs.n == 50
    more = only(check_all(new, base, {"coval": 5}))
    assert (more.result, more.pairs.n, more.lost) == ("within", 50, [])


def test_a_metric_is_found_with_its_measure_and_setting(measure: Measure, rows_of: RowsOf) -> None:
    rows = [*rows_of("gsm8k", 20, 8, right=15), *rows_of("coval", 20, 8, held_out=True)]
    checks = check_all(
        measure("base", rows), measure("new", rows), {"gsm8k": 0, "gsm8k.specific": 0, "coval": 0, "coval.specific": 0}
    )
    assert [check.metric.heading for check in checks] == [
        "GSM8K accuracy %",
        "GSM8K follow-up, specific %",
        "CoVal held-out %",
        "CoVal held-out, specific %",
    ]
    assert [check.rates[0].successes for check in checks] == [15, 4, 8, 4]


def test_a_metric_that_cannot_be_checked_is_an_error(measure: Measure, rows_of: RowsOf) -> None:
    base = measure("base", [*rows_of("gsm8k", 4, 2, right=2), *rows_of("coval", 4, 2)])
    new = measure("new", [*rows_of("gsm8k", 4, 2, right=2), *rows_of("coval", 4, 2, held_out=True)])
    with pytest.raises(ConfigError, match="healthbench: base has no rows of healthbench; it has coval, gsm8k"):
        check_all(base, new, {"healthbench": 0})
    with pytest.raises(ConfigError, match="coval was measured in several settings, held-out, self-generated"):
        check_all(base, new, {"coval": 0})
    with pytest.raises(
        ConfigError, match=r"coval\.accuracy: no row has an outcome in both runs \(4 rows of the base, 4"
    ):
        check_all(base, base, {"coval.accuracy": 0})
