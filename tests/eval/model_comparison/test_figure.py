"""What a column counts: which rows belong to it, which of them have an outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure
from eval.model_comparison.figure import OURS, PAPER, Figure, figures_of, parse_figure, rate_of
from eval.paper.comparison import outcomes_of
from eval.paper.published import read_paper
from eval.stats.rates import Rate
from eval.summary import summarise

RowOf = Callable[..., Dialogue]
RowsOf = Callable[..., list[Dialogue]]


def test_the_paper_s_columns_are_those_of_its_table() -> None:
    published = [(column["task"], column["measure"]) for column in read_paper().tables["table2"].columns]
    assert [(figure.task, figure.measure) for figure in PAPER] == published
    assert [figure.heading for figure in PAPER] == [
        "GSM8K accuracy %",
        "IFBench follow-up %",
        "GPQA Diamond follow-up %",
        "HealthBench held-out %",
        "CoVal held-out %",
    ]
    assert Figure("coval", "specific", "held-out").heading == "CoVal held-out, specific %"


def test_a_run_of_any_task_of_the_paper_has_all_its_columns_and_those_of_ours_that_it_holds() -> None:
    pocket = [figure for figure in OURS if figure.task.startswith("pocket")]
    assert figures_of({"gsm8k", "ifeval"}) == PAPER
    assert figures_of({figure.task for figure in pocket}) == tuple(pocket)
    assert [figure.key for figure in figures_of({"pocket_math", "coval"})[len(PAPER) :]] == [
        "pocket_math.accuracy",
        "pocket_math.genuine",
    ]
    assert [figure.heading for figure in figures_of({"arithmetic"})] == ["arithmetic accuracy %"]
    with pytest.raises(ConfigError, match=r"the runs hold ifeval, but no task of Table 2: gsm8k, .*pocket_conv"):
        figures_of({"ifeval"})
    with pytest.raises(ConfigError, match="the runs hold no rows"):
        figures_of(())


def test_outcomes_are_counted_as_a_summary_counts_them(row_of: RowOf, rows_of: RowsOf) -> None:
    unspoken = row_of("gsm8k", 20, correct=True)
    rows = [
        *rows_of("gsm8k", 10, 4, right=6),
        replace(unspoken, messages=unspoken.messages[:2], judgement=None, failure=Failure("generate", "empty_prompt")),
        replace(row_of("gsm8k", 21, correct=False), judgement=None, failure=Failure("judge", "timeout")),
        replace(row_of("gsm8k", 22), messages=(), judgement=None, failure=Failure("load", "malformed")),
        *rows_of("coval", 5, 2, held_out=True),
    ]
    outcomes = outcomes_of(rows)
    coval, gsm8k = summarise(rows)
    for figure, summary in (
        (Figure("gsm8k", "accuracy"), gsm8k),
        (Figure("gsm8k", "genuine"), gsm8k),
        (Figure("gsm8k", "specific"), gsm8k),
        (Figure("coval", "genuine", "held-out"), coval),
    ):
        counted = figure.outcomes(outcomes)
        assert (rate_of(counted), len(counted)) == (getattr(summary, figure.measure), summary.total), figure.key
    assert rate_of(Figure("gsm8k", "accuracy").outcomes(outcomes)) == Rate(7, 12)


def test_settings_are_not_pooled_and_a_row_without_one_goes_with_a_lone_one(row_of: RowOf) -> None:
    lost = replace(row_of("chat", 9), messages=(), judgement=None, failure=Failure("load", "malformed"))
    one = outcomes_of([row_of("chat", 0, genuine=True), lost])
    assert Figure("chat", "genuine").outcomes(one) == {row_of("chat", 0).id: True, lost.id: None}
    both = outcomes_of([row_of("chat", 0, genuine=True), row_of("chat", 1, held_out=True), lost])
    assert set(Figure("chat", "genuine").outcomes(both)) == {row_of("chat", 0).id}
    assert set(Figure("chat", "genuine", "held-out").outcomes(both)) == {row_of("chat", 1).id}
    assert Figure("chat", "genuine").outcomes(outcomes_of([lost])) == {lost.id: None}
    assert Figure("other", "genuine").outcomes(both) == {}


def test_a_figure_is_named_by_its_task_or_with_its_measure() -> None:
    assert parse_figure("gsm8k") == ("gsm8k", "accuracy")
    assert parse_figure("pocket_math") == ("pocket_math", "accuracy")
    assert parse_figure("healthbench") == ("healthbench", "genuine")
    assert parse_figure("gsm8k.specific") == ("gsm8k", "specific")
    with pytest.raises(ConfigError, match=r"'gsm8k\.best': after the dot stands one of accuracy, genuine, specific"):
        parse_figure("gsm8k.best")
