"""What a gold file may tell beside its labels; malformed rows are in `test_agreement.py`."""

from __future__ import annotations

import json
from pathlib import Path

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
