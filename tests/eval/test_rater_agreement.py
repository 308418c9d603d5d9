"""Figures of a comparison that `test_agreement.py` does not see: detection of each label, drawn slices, intervals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.dialogue import Failure, Judgement
from eval.gold import GoldItem, read_gold
from eval.rater_agreement import compare


@pytest.fixture
def items(tmp_path: Path) -> list[GoldItem]:
    """40 items on 20 contexts: every context has a genuine one and a copy of its query."""
    rows = []
    for number in range(20):
        messages = [{"role": "user", "content": f"q{number}"}, {"role": "assistant", "content": "a"}]
        for turn, label in ((f"Why {number}?", "genuine_followup"), (f"q{number}", "previous_turn_restate")):
            row = {"messages": messages, "user_turn": turn, "label": label, "genuine": label == "genuine_followup"}
            rows.append(row)
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_gold(path)


def test_precision_and_recall_of_each_label(items: list[GoldItem]) -> None:
    judged: list[Judgement | Failure] = [Judgement(item.label, item.genuine, "j") for item in items]
    judged[:3] = [Judgement("other", False, "j"), Judgement("genuine_followup", True, "j"), Failure("judge", "late")]
    report = compare(items, judged)
    assert report["labels"]["genuine_followup"] == {"gold": 19, "judge": 19, "precision": 18 / 19, "recall": 18 / 19}
    assert report["labels"]["other"] == {"gold": 0, "judge": 1, "precision": 0.0, "recall": None}
    assert report["binary"]["precision"] == report["binary"]["recall"] == 18 / 19
    assert "acknowledgement" not in report["labels"]


def test_slices_are_drawn_by_the_labels_and_count_what_is_unjudged(items: list[GoldItem]) -> None:
    drawn = compare(items, [Failure("judge", "late")] * 40)["slices"]["drawn"]
    assert {name: (found["n"], found["unjudged"]) for name, found in drawn.items()} == {
        "random": (10, 10),
        "balanced": (40, 40),
    }


def test_a_kappa_has_an_interval_unless_raters_never_disagree(items: list[GoldItem]) -> None:
    right = [Judgement(item.label, item.genuine, "j") for item in items]
    assert compare(items, right)["binary"]["kappa_interval"] is None
    wrong = [*right[:30], *(Judgement("other", not item.genuine, "j") for item in items[30:])]
    low, high = compare(items, wrong)["binary"]["kappa_interval"]
    assert -1 <= low < 0.5 < high <= 1
