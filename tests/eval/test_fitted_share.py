from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval import fitted_share as module
from eval.fitted_share import fitted_share
from eval.gold import read_gold


def test_the_share_counts_items_on_queries_that_the_parameters_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {
            "messages": [{"role": "user", "content": f"q{number}"}, {"role": "assistant", "content": "a"}],
            "user_turn": "Why?",
            "label": "genuine_followup",
            "genuine": True,
        }
        for number in range(2)
    ]
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    items = read_gold(path)
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges" / "local.json").write_text(json.dumps({"contexts": [items[0].context]}))
    monkeypatch.setattr(module, "__file__", str(tmp_path / "fitted_share.py"))
    assert fitted_share(items, "local") == 0.5
    assert fitted_share(items, "unfitted") == 0.0
