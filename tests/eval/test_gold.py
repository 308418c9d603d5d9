"""What a gold file may tell beside its labels; malformed rows are in `test_agreement.py`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.dialogue import Judgement
from eval.gold import read_gold

ROW = {
    "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}],
    "user_turn": "Why a?",
    "label": "genuine_followup",
    "genuine": True,
}


def test_weight_and_judgements_are_read_and_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    told = {"weight": 2.5, "judgements": {"local-1-ab": {"label": "other", "genuine": False}}}
    path.write_text(json.dumps(ROW) + "\n" + json.dumps({**ROW, **told}) + "\n")
    bare, full = read_gold(path)
    assert (bare.weight, bare.judgements) == (1.0, {})
    assert (full.weight, full.judgements) == (2.5, {"local-1-ab": Judgement("other", False, "local-1-ab")})


@pytest.mark.parametrize(
    ("label", "genuine"),
    [("acknowledgement", True), ("new_task_prompt", True), ("genuine_followup", False), ("generic_followup", False)],
)
def test_a_binary_that_its_label_excludes_is_an_error(tmp_path: Path, label: str, genuine: bool) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({**ROW, "label": label, "genuine": genuine}))
    with pytest.raises(ValueError, match=rf"line 1: `genuine` is {str(genuine).lower()}, which the label '{label}'"):
        read_gold(path)


def test_one_turn_with_two_labels_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    rows = [ROW, {**ROW, "user_turn": "b"}, {**ROW, "label": "generic_followup"}]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(ValueError, match="line 3: the user turn of line 1 is labelled otherwise there"):
        read_gold(path)
