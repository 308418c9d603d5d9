"""What stands in a cell for a reader and for a program, and which notes stand under which table."""

from __future__ import annotations

import csv
import io

import pytest

from eval.stats.rates import Interval, Rate, wilson
from eval.table import Cell, Table, each_note_once
from eval.table_formats import to_csv


def table(*cells: Cell, title: str = "T") -> Table:
    """One row named r."""
    return Table(title, ("name", *(f"c{i}" for i in range(len(cells)))), ((Cell("r"), *cells),))


def test_a_rate_shows_its_interval_and_on_request_its_n() -> None:
    interval = wilson(829, 1319)
    assert interval is not None
    cell = Cell.rate(Rate(829, 1319), with_n=True)
    assert cell.text == "62.9 [60.2, 65.4] n=1319"
    assert cell.value == pytest.approx(100 * 829 / 1319, abs=1e-4)
    assert (cell.low, cell.high) == pytest.approx((100 * interval.low, 100 * interval.high), abs=1e-4)
    assert (cell.successes, cell.n) == (829, 1319)
    assert Cell.rate(Rate(0, 300)).text == "0.0 [0.0, 1.3]"


def test_unknown_is_never_a_number() -> None:
    for cell in (Cell.rate(Rate(0, 0)), Cell.share(Rate(0, 0)), Cell.number(None)):
        assert cell.text == "—"
        assert cell.value is cell.low is cell.high is None
    assert Cell.rate(Rate(0, 0), with_n=True).text == "— n=0"
    (line,) = csv.DictReader(io.StringIO(to_csv([table(Cell.rate(Rate(0, 0)))])))
    assert (line["value"], line["low"], line["high"], line["n"]) == ("", "", "", "0")


def test_shares_and_numbers() -> None:
    assert Cell.share(Rate(12, 50)).text == "12 (24.0 %)"
    assert Cell.number(1319).text == "1319"
    assert Cell.number(25.04, digits=1) == Cell("25.0", value=25.04)


def test_ragged_rows_are_a_bug() -> None:
    with pytest.raises(AssertionError, match="T: 1 cells under 2 columns"):
        Table("T", ("a", "b"), ((Cell("1"),),))


def test_a_rate_with_unknown_rows_tells_both_numbers() -> None:
    cell = Cell.rate(Rate(3, 297), with_n=True, total=300)
    assert cell.text == "1.0 [0.3, 2.9] n=297/300"
    assert (cell.n, cell.total) == (297, 300)
    assert Cell.rate(Rate(3, 300), with_n=True, total=300).text == "1.0 [0.3, 2.9] n=300"
    (line,) = csv.DictReader(io.StringIO(to_csv([table(cell)])))
    assert (line["n"], line["total"], line["paper"]) == ("297", "300", "")


def test_the_paper_s_value_stands_behind_ours() -> None:
    cell = Cell.rate(Rate(3, 300)).beside(0.7)
    assert (cell.text, cell.paper) == ("1.0 [0.3, 2.9] (0.7)", 0.7)
    assert Cell("—").beside(None).text == "— (—)"
    (line,) = csv.DictReader(io.StringIO(to_csv([table(cell)])))
    assert (line["paper"], line["value"]) == ("0.7", "1.0")


def test_estimates_and_p_values() -> None:
    assert Cell.estimate(-0.05, Interval(-0.1, 0.001), 93).text == "-5.0 [-10.0, 0.1] n=93"
    assert Cell.estimate(0.05, None, 93).text == "5.0 [—] n=93"
    assert Cell.estimate(None, None, 0).text == "— n=0"
    assert (Cell.p_value(0.04321).text, Cell.p_value(0.04321).value) == ("0.043", 0.04321)
    assert (Cell.p_value(0.00001).text, Cell.p_value(None).text) == ("<0.001", "—")


def test_a_note_that_tables_share_stands_under_the_last_of_them() -> None:
    tables = [Table(title, ("a",), (), notes) for title, notes in (("x", ("1", "2")), ("y", ("2",)), ("z", ("1", "3")))]
    assert [table.notes for table in each_note_once(tables)] == [(), ("2",), ("1", "3")]
    assert each_note_once([]) == []
