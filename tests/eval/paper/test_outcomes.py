"""What rows show, by id, against a dict; and what a row takes of memory."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from eval.dialogue import Dialogue, Failure
from eval.labels import LABELS
from eval.model_comparison.metric import Metric
from eval.paper import outcomes
from eval.paper.outcomes import Outcomes, outcome_of

RowOf = Callable[..., Dialogue]


def test_it_holds_what_a_dict_holds_in_the_order_of_the_numbers(row_of: RowOf) -> None:
    random, found = Random(0), Outcomes()
    plain: dict[str, tuple[int, Dialogue]] = {}
    for number in range(400):
        row = row_of(random.choice(["gsm8k", "chat"]), random.randrange(150), random.choice([*LABELS]))
        if random.random() < 0.2:
            row = replace(row, id=f"odd {row.id}")
        found.add(row, 3 * number)
        plain.pop(row.id, None)
        plain[row.id] = (3 * number, row)
    assert list(found) == list(plain)
    assert len(found) == len(plain)
    assert dict(found) == {id: outcome_of(row) for id, (_, row) in plain.items()}
    assert {id: found.number(id) for id in found} == {id: number for id, (number, _) in plain.items()}
    assert found.counts() == Counter(outcome_of(row) for _, row in plain.values())
    assert found.get("none") is None and "none" not in found


def test_a_row_without_a_judgement_shows_no_label(row_of: RowOf) -> None:
    row = row_of("gsm8k", 1, "genuine_followup", genuine=True, correct=True)
    shown = outcome_of(row)
    assert (shown.label, shown.genuine, shown.specific, shown.correct) == ("genuine_followup", True, True, True)
    failed = outcome_of(replace(row, failure=Failure("judge", "timeout")))
    assert (failed.state, failed.label, failed.genuine, failed.specific) == ("judge_error", None, None, None)


def test_more_outcomes_than_fit_are_refused(monkeypatch: pytest.MonkeyPatch, row_of: RowOf) -> None:
    monkeypatch.setattr(outcomes, "KINDS", 2)
    found = Outcomes()
    for label in ("other", "acknowledgement", "other"):
        found.add(row_of("gsm8k", 1, label), 0)
    with pytest.raises(ValueError, match="more than 2 distinct outcomes"):
        found.add(row_of("gsm8k", 1, "meta_planning"), 0)


def test_a_row_takes_sixteen_bytes_and_a_metric_none(row_of: RowOf) -> None:
    np.argsort([0])  # what numpy makes on its first use is no row's
    row, rows = row_of("gsm8k", 0, correct=True), 50_000
    tracemalloc.start()
    try:
        found = Outcomes()
        for number in range(rows):
            found.add(replace(row, id=f"{number:016x}"), number)
        metric = Metric("gsm8k", "accuracy").outcomes(found)
        assert len(metric) == rows and metric[f"{7:016x}"] is True
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 16 * rows + 3_000_000, "8192 keys or less wait in a dict"
