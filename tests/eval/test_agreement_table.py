"""The report as tables: what is undefined is said so, and no kappa of 0 or 1 stands in for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.agreement_table import kappa_cell, show
from eval.dialogue import Failure, Judgement
from eval.gold import read_gold
from eval.rater_agreement import compare
from eval.stats.rates import Interval


def test_a_kappa_with_its_interval_without_one_undefined_or_unknown() -> None:
    assert kappa_cell(0.48, Interval(0.4, 0.551), rated=True).text == "0.480 [0.40, 0.55]"
    assert kappa_cell(1.0, None, rated=True).text == "1.000 [\u2014]"
    assert kappa_cell(None, None, rated=True).text == "undefined"
    assert kappa_cell(None, None, rated=False).text == "\u2014"


def test_raters_of_one_class_are_shown_as_undefined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    rows = [{"messages": messages, "user_turn": f"t{n}", "label": "other", "genuine": False} for n in range(4)]
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    items = read_gold(path)
    report = compare(items, [*(Judgement("other", False, "j") for _ in items[1:]), Failure("judge", "late")])
    show({**report, "judge": "j", "cross_validated": False, "fitted_share": 0.0})
    shown = capsys.readouterr().out
    (line,) = [line for line in shown.splitlines() if line.strip().startswith("all ")]
    assert line.split() == ["all", "4", "1", "0.000", "0.000", "undefined", "1.000", "undefined", "1.000"]
    assert "Labels one by one" in shown
