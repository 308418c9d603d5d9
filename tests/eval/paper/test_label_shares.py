"""Shares of labels by hand: models weigh alike, contexts that repeat widen the interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eval.dialogue import Dialogue, Failure, Message
from eval.finished_runs import read_run
from eval.paper.label_shares import LabelCounts, context_of, count_labels
from eval.stats.clustered import clustered_interval
from eval.stats.rates import wilson

MakeRun = Callable[..., Path]
RowOf = Callable[..., Dialogue]


def counts(*runs: list[str]) -> LabelCounts:
    """Runs over the same contexts, one row each."""
    return LabelCounts.of([(f"{i:016x}", label) for i, label in enumerate(labels)] for labels in runs)


def test_one_run_of_single_contexts_has_wilson_s_interval() -> None:
    share, interval = counts(["a", "a", "b", "c"]).share("a")
    assert (share, interval) == (0.5, wilson(2, 4))


def test_runs_weigh_alike_whatever_their_rows() -> None:
    found = counts(["a"] * 10 + ["b"] * 30, ["a"] * 10)
    share, interval = found.share("a")
    assert share == pytest.approx((0.25 + 1.0) / 2)
    assert interval == clustered_interval([[1] * 10 + [0] * 30, [1] * 10 + [0] * 30], [[1] * 40, [1] * 10 + [0] * 30])
    assert found.rows == 50
    assert found.labels == ("a", "b")


def test_a_context_with_two_rows_is_resampled_whole() -> None:
    twice = LabelCounts.of([[(f"c{i // 2}", "a" if i < 40 else "b") for i in range(160)]])
    share, interval = twice.share("a")
    plain = wilson(40, 160)
    assert share == 0.25 and interval is not None and plain is not None
    assert interval.high - interval.low > 1.3 * (plain.high - plain.low)


def test_a_run_without_rows_makes_the_share_unknown() -> None:
    assert counts(["a"], []).share("a") == (None, None)
    assert LabelCounts.of([]).share("a") == (None, None)


def test_a_context_is_the_conversation_before_the_answer(row_of: RowOf) -> None:
    row = row_of("gpqa_main", 1)
    query, answer, _ = row.messages
    other = replace(row, task="gpqa_diamond", messages=(query, replace(answer, text="5"), Message("user", "Hm", "m")))
    assert context_of(row) == context_of(other) == context_of(replace(row, messages=(query,)))
    assert context_of(row) != context_of(row_of("gpqa_main", 2))


def test_only_judged_rows_of_the_setting_count(make_run: MakeRun, row_of: RowOf) -> None:
    failed = replace(row_of("gsm8k", 2, "other"), failure=Failure("judge", "timeout"))
    rows = [row_of("gsm8k", 1, "other"), failed, row_of("coval", 3, "acknowledgement", held_out=True)]
    found = count_labels([read_run(make_run("one", rows))], "self-generated")
    assert (found.rows, found.labels) == (1, ("other",))
