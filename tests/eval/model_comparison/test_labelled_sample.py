"""What a judge says of labelled items that are no rows of its runs: stored, given on the spot, or unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError
from eval.judges.grounding import Judge as Grounding
from eval.model_comparison.labelled_sample import decide, read_items

ITEM = {
    "messages": [
        {"role": "user", "content": "How long does rye cool?"},
        {"role": "assistant", "content": "Twelve hours: the crumb sets slowly."},
    ],
    "user_turn": "Why does the crumb set slowly?",
    "label": "genuine_followup",
    "genuine": True,
}
ID = Grounding().id


def gold(path: Path, *changes: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps({**ITEM, **change}) + "\n" for change in changes))
    return path


def test_an_item_that_occurs_twice_is_one_and_two_labels_of_it_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    assert len(read_items(gold(path, {}, {}, {"user_turn": "Why?"}))) == 2
    with pytest.raises(ConfigError, match="has two labels"):
        read_items(gold(path, {}, {"label": "other", "genuine": False}))


def test_a_stored_decision_wins_and_an_embedded_judge_fills_the_rest(tmp_path: Path) -> None:
    stored = {"user_turn": "x", "judgements": {ID: {"label": "other", "genuine": True}}}
    items = read_items(gold(tmp_path / "gold.jsonl", {}, stored, {"user_turn": "Thanks!"}))
    first, second, third = items
    said = decide(items, [ID], {ID: set()})[ID].said
    assert said == {first: True, second: True, third: False}
    assert set(decide(items, [ID], {ID: {first, third}})[ID].said) == {second}, "rows of its run are not asked about"


@pytest.mark.parametrize("judge", ["grounding-0", "openai-gpt-5.4-mini-2026-03-17-0a1b2c3d", "unheard-of"])
def test_another_version_or_a_judge_behind_a_server_is_never_asked(tmp_path: Path, judge: str) -> None:
    stored = {"user_turn": "x", "judgements": {judge: {"label": "other", "genuine": False}}}
    items = read_items(gold(tmp_path / "gold.jsonl", {}, stored))
    assert list(decide(items, [judge], {judge: set()})[judge].said.values()) == [False]
    with pytest.raises(ConfigError, match=f"no decision of {judge} on these items"):
        bare = read_items(gold(tmp_path / "gold.jsonl", {}))
        decide(bare, [judge], {judge: set()})
