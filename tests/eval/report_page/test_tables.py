"""The tables of a report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eval.dialogue import Failure
from eval.report_page.marks import Scale
from eval.report_page.tables import laid_out
from eval.stats.rates import Rate
from eval.table import Cell, Table


def test_results_hold_the_rates_of_every_task_with_n(page_of: Any, rows_of: Any) -> None:
    rows = rows_of("gsm8k", 40, 10, right=20) + rows_of("healthbench", 30, 3, held_out=True)
    broken = replace(rows[0], judgement=None, failure=Failure("judge", "refusal", "I can't"))
    page = page_of([broken, *rows[1:]])
    text = " ".join(page.text.split())
    assert "GSM8K 40 39 23.1 [12.6, 38.3] 10.3" in text
    assert "HealthBench (held-out) 30 30 10.0 [3.5, 25.6]" in text
    assert "judge refusal 1" in text


def test_tables_of_the_paper_are_there_or_say_what_they_need(page_of: Any, rows_of: Any) -> None:
    page = page_of(rows_of("gsm8k", 6, 1, right=3))
    assert "Table 5: all families, GSM8K" in page.text
    assert "Table 1 is left out: it needs a run with a perturbation" in page.text


def test_columns_of_one_measure_share_a_scale() -> None:
    names = ("model", "accuracy %", "genuine %", "specific %", "genuine, difference", "n")
    row = (
        Cell.rate(Rate(9, 10)),
        Cell.rate(Rate(3, 100)),
        Cell.rate(Rate(1, 100)),
        Cell("-3", -3.0, -8.0, 2.0),
        Cell("7"),
    )
    shown = laid_out(Table("t", names, ((Cell("m"), *row),)))
    assert [column.scale for column in shown.columns] == [
        *(None, Scale(0, 100), Scale(0, 10), Scale(0, 10), Scale(-10, 10), None)
    ]
    mixed = laid_out(Table("t", ("measure", *names[1:]), ((Cell("m"), *row),)))
    assert not mixed.drawn and mixed.width == 9
