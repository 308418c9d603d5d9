"""What a column counts: which rows belong to it, which of them have an outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure
from eval.model_comparison.metric import OURS, PAPER, Metric, metrics_of, parse_metric, rate_of
from eval.paper.comparison import outcomes_of
from eval.paper.published import read_paper
from eval.stats.rates import Rate
from eval.summary import summarise

RowOf = Callable[..., Dialogue]
RowsOf = Callable[..., list[Dialogue]]


def test_the_paper_s_columns_are_those_of_its_table() -> None:
    published = [(column["task"], column["measure"]) for column in read_paper().tables["table2"].columns]
    assert [(metric.task, metric.measure) for metric in PAPER] == published
    assert [metric.heading for metric in PAPER] == [
        "GSM8K accuracy %",
        "IFBench follow-up %",
        "GPQA Diamond follow-up %",
        "HealthBench held-out %",
        "CoVal held-out %",
    ]
    assert Metric("coval", "specific", "held-out").heading == "CoVal held-out, specific %"


def test_a_run_of_any_task_of_the_paper_has_all_its_columns_and_those_of_ours_that_it_holds() -> None:
    pocket = [metric for metric in OURS if metric.task.startswith("pocket")]
    assert metrics_of({"gsm8k", "ifeval"}) == PAPER
    assert metrics_of({metric.task for metric in pocket}) == tuple(pocket)
    assert [metric.key for metric in metrics_of({"pocket_math", "coval"})[len(PAPER) :]] == [
        "pocket_math.accuracy",
        "pocket_math.genuine",
    ]
    assert [metric.heading for metric in metrics_of({"arithmetic"})] == ["arithmetic accuracy %"]
    with pytest.raises(ConfigError, match=r"the runs hold ifeval, but no task of Table 2: gsm8k, .*pocket_conv"):
        metrics_of({"ifeval"})
    with pytest.raises(ConfigError, match="the runs hold no rows"):
        metrics_of(())


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
    for metric, summary in (
        (Metric("gsm8k", "accuracy"), gsm8k),
        (Metric("gsm8k", "genuine"), gsm8k),
        (Metric("gsm8k", "specific"), gsm8k),
        (Metric("coval", "genuine", "held-out"), coval),
    ):
        counted = metric.outcomes(outcomes)
        assert (rate_of(counted), len(counted)) == (getattr(summary, metric.measure), summary.total), metric.key
    assert rate_of(Metric("gsm8k", "accuracy").outcomes(outcomes)) == Rate(7, 12)


def test_settings_are_not_pooled_and_a_row_without_one_goes_with_a_lone_one(row_of: RowOf) -> None:
    lost = replace(row_of("chat", 9), messages=(), judgement=None, failure=Failure("load", "malformed"))
    one = outcomes_of([row_of("chat", 0, genuine=True), lost])
    assert Metric("chat", "genuine").outcomes(one) == {row_of("chat", 0).id: True, lost.id: None}
    both = outcomes_of([row_of("chat", 0, genuine=True), row_of("chat", 1, held_out=True), lost])
    assert set(Metric("chat", "genuine").outcomes(both)) == {row_of("chat", 0).id}
    assert set(Metric("chat", "genuine", "held-out").outcomes(both)) == {row_of("chat", 1).id}
    assert Metric("chat", "genuine").outcomes(outcomes_of([lost])) == {lost.id: None}
    assert Metric("other", "genuine").outcomes(both) == {}


def test_a_metric_is_named_by_its_task_or_with_its_measure() -> None:
    assert parse_metric("gsm8k") == ("gsm8k", "accuracy")
    assert parse_metric("pocket_math") == ("pocket_math", "accuracy")
    assert parse_metric("healthbench") == ("healthbench", "genuine")
    assert parse_metric("gsm8k.specific") == ("gsm8k", "specific")
    with pytest.raises(ConfigError, match=r"'gsm8k\.best': after the dot, write one of accuracy, genuine, specific"):
        parse_metric("gsm8k.best")
