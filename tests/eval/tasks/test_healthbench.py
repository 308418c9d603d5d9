"""HealthBench: the context ends in the physician's response, and a row without one is counted, not lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.dialogue import Dialogue, count_states
from eval.tasks import healthbench

CANARY = "toy:canary"


def _row(prompt_id: str, ideal: Any = " Rest. \n", **changes: Any) -> dict:
    return {
        "prompt_id": prompt_id,
        "prompt": [{"role": "user", "content": f" My knee hurts ({prompt_id}). "}],
        "example_tags": ["theme:toy"],
        "ideal_completions_data": {"ideal_completion": ideal, "ideal_completions_group": "Group 1"},
        "rubrics": [],
        "canary": CANARY,
    } | changes


def _load(tmp_path: Path, *rows: dict, name: str = "healthbench_subset_toy.jsonl", **options: Any) -> list[Dialogue]:
    path = tmp_path / "healthbench" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return healthbench.load(data_dir=tmp_path, **options)


def test_the_context_is_the_prompt_and_the_stripped_ideal_response(tmp_path: Path) -> None:
    (dialogue,) = _load(tmp_path, _row("a"))
    assert [(m.role, m.text, m.by) for m in dialogue.messages] == [
        ("user", " My knee hurts (a). ", "data"),
        ("assistant", "Rest.", "data"),
    ]
    assert dialogue.meta == {"prompt_id": "a", "tags": ["theme:toy"], "canary": CANARY}
    assert dialogue.reference is None and dialogue.failure is None
    assert healthbench.check(dialogue) is None


@pytest.mark.parametrize("changes", [{"ideal_completions_data": None}, {"ideal": None}, {"ideal": " \n"}])
def test_a_row_without_a_response_is_skipped_and_counted(tmp_path: Path, changes: dict) -> None:
    dialogues = _load(tmp_path, _row("a"), _row("b", **changes))
    assert count_states(dialogues) == {"ok": 1, "truncated": 0, "gen_error": 0, "judge_error": 0, "skipped": 1}
    (skipped,) = [dialogue for dialogue in dialogues if dialogue.failure]
    assert skipped.failure.kind == "no_ideal_completion" and "line 2" in skipped.failure.detail
    assert [message.role for message in skipped.messages] == ["user"]


def test_a_larger_limit_keeps_the_smaller_selection(tmp_path: Path) -> None:
    rows = [_row(str(number)) for number in range(20)]
    assert _load(tmp_path, *rows, limit=4, seed=1) == _load(tmp_path, *rows, limit=9, seed=1)[:4]


def test_the_full_file_is_preferred_to_its_subsets(tmp_path: Path) -> None:
    _load(tmp_path, _row("subset"))
    _load(tmp_path, _row("hard"), name="hard_2025-05-08-21-00-10.jsonl")
    (dialogue,) = _load(tmp_path, _row("full"), name="2025-05-07-06-14-12_oss_eval.jsonl")
    assert dialogue.meta["prompt_id"] == "full"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"prompt": None}, "column 'prompt': None is not of type list"),
        ({"prompt": []}, "messages must be a list with at least one message"),
        ({"prompt": [{"role": "developer", "content": "x"}]}, "message 0: role 'developer' is not one of"),
        ({"prompt": [{"role": "user", "content": None}]}, "message 0: content None is not a string"),
        ({"prompt": [{"role": "assistant", "content": "x"}]}, "the prompt ends in a assistant message"),
        ({"ideal": ["Rest."]}, "ideal_completion is list, not a string"),
        ({"ideal_completions_data": "Rest."}, "column 'ideal_completions_data': 'Rest.' is not of type dict | None"),
        ({"canary": None}, "column 'canary': None is not of type str"),
        ({"prompt_id": "a"}, "prompt_id a is already at"),
    ],
)
def test_a_faulty_row_names_its_line(tmp_path: Path, changes: dict, complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        _load(tmp_path, _row("a"), _row(**{"prompt_id": "b"} | changes))
    assert "healthbench_subset_toy.jsonl line 2" in str(caught.value)
    assert complaint in str(caught.value)


def test_the_real_rows_end_in_a_response_or_are_skipped(data_dir: Path) -> None:
    dialogues = healthbench.load(data_dir=data_dir)
    states = count_states(dialogues)
    assert states["ok"] + states["skipped"] == len(dialogues) == len({dialogue.id for dialogue in dialogues})
    for dialogue in dialogues:
        assert dialogue.messages[-1].role == ("user" if dialogue.failure else "assistant")
        assert dialogue.meta["canary"].startswith("healthbench:")
