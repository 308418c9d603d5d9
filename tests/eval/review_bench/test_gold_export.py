"""The export: a gold file that the reader of gold files takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.gold import read_gold
from eval.review_bench.decision import Decision
from eval.review_bench.gold_export import Exported, export_gold, majority
from eval.review_bench.items import ReviewItem
from eval.review_bench.store import ReviewStore

FIELDS = ["id", "context", "task", "source", "temperature", "finish", "messages"]
FIELDS += ["user_turn", "label", "genuine", "weight", "judgements"]


def decide(store: ReviewStore, name: str, *decisions: tuple[str, bool] | None) -> None:
    for position, decision in enumerate(decisions, start=1):
        if decision is not None:
            store.record(name, position, label=decision[0])
            store.record(name, position, genuine=decision[1])


def test_what_is_decided_comes_back_as_gold(store: ReviewStore, tmp_path: Path) -> None:
    decide(store, "Ada", ("other", False), None, ("genuine_followup", True))
    store.record("Ada", 2, label="other")
    assert export_gold(store, tmp_path / "gold.jsonl") == Exported(written=2, undecided=1, disputed=0)
    rows = [json.loads(line) for line in (tmp_path / "gold.jsonl").read_text().splitlines()]
    assert [list(row) for row in rows] == [FIELDS, FIELDS]
    first, second = read_gold(tmp_path / "gold.jsonl")
    assert (first.label, first.genuine, second.label, second.genuine) == ("other", False, "genuine_followup", True)
    assert first.source == "tiny@0123" and first.temperature == 0.5 and first.dialogue.task == "pocket"
    said = store.item(1).dialogue.messages
    assert [(m.role, m.text) for m in first.dialogue.messages] == [(m.role, m.text) for m in said]
    assert rows[0]["judgements"] == {judge: {"label": "other", "genuine": False} for judge in ("j0", "j1")}
    assert first.dialogue.messages[-1].finish == "stop" and first.context.startswith(rows[0]["context"])


def test_one_reviewer_or_what_more_than_half_agree_on(store: ReviewStore, tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    decide(store, "Ada", ("other", False), ("genuine_followup", True), ("other", False))
    decide(store, "Ben", ("other", False), ("genuine_followup", False), ("meta_planning", False))
    assert export_gold(store, path, "Ben") == Exported(3, 0, 0)
    assert [item.label for item in read_gold(path)] == ["other", "genuine_followup", "meta_planning"]
    assert export_gold(store, path) == Exported(written=1, undecided=0, disputed=2)
    decide(store, "Cyd", None, ("genuine_followup", True))
    assert export_gold(store, path) == Exported(written=2, undecided=0, disputed=1)
    assert [(item.label, item.genuine) for item in read_gold(path)] == [("other", False), ("genuine_followup", True)]


def test_a_majority_is_more_than_half_of_label_and_binary_together() -> None:
    a, b, c = Decision("other", True), Decision("other", False), Decision("meta_planning", False)
    assert majority([]) is None and majority([a]) == a and majority([a, b]) is None
    assert majority([a, a, b]) == a and majority([a, b, c]) is None and majority([a, a, b, b]) is None


def test_odd_texts_and_weights_survive(tmp_path: Path, item_of: Callable[..., ReviewItem]) -> None:
    turn = "\ud800 \u202e \u2028 \x00 \"'<b>\r\n"
    with ReviewStore.create(
        tmp_path / "s", [item_of(1, turn=turn, weight=2.5), item_of(2)], {"sample": "all"}
    ) as store:
        decide(store, "Ada", ("malformed_artifact", False), ("other", False))
        export_gold(store, tmp_path / "gold.jsonl")
    assert [item.dialogue.messages[-1].text for item in read_gold(tmp_path / "gold.jsonl")] == [turn, "turn 2"]
    weights = [json.loads(line)["weight"] for line in (tmp_path / "gold.jsonl").read_bytes().splitlines()]
    assert weights == [2.5, 1.0]


def test_what_cannot_be_exported_is_said_and_leaves_the_old_file(store: ReviewStore, tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text("old")
    with pytest.raises(ConfigError, match="nothing to export"):
        export_gold(store, path)
    with pytest.raises(ConfigError, match="no decision by 'Ada'"):
        export_gold(store, path, "Ada")
    assert path.read_text() == "old"
    decide(store, "Ada", ("other", False))
    with pytest.raises(ConfigError, match="can't be written"):
        export_gold(store, tmp_path / "no" / "gold.jsonl")
