"""HealthBench: the context ends in the physician's response, and a row without one is counted, not lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.dialogue import Dialogue
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
    assert sorted(dialogue.state for dialogue in dialogues) == ["ok", "skipped"]
    (skipped,) = [dialogue for dialogue in dialogues if dialogue.failure]
    assert skipped.failure.kind == "no_ideal_completion" and "line 2" in skipped.failure.detail
    assert [message.role for message in skipped.messages] == ["user"]


CHAT = [
    {"role": "user", "content": "My knee hurts."},
    {"role": "assistant", "content": "Since when?"},
    {"role": "user", "content": "Since Monday."},
]


def _references(*texts: Any) -> dict:
    return {"ideal_completion": "Rest.", "ideal_completions_ref_completions": list(texts)}


def test_a_reference_response_is_picked_by_the_hash_of_the_prompt_id(tmp_path: Path) -> None:
    rows = [_row(str(n), ideal_completions_data=_references(" one ", "two", "three", "four")) for n in range(40)]
    dialogues = _load(tmp_path, *rows, response="reference")
    picked = {d.meta["prompt_id"]: (d.meta["reference_response"], d.messages[-1].text) for d in dialogues}
    assert set(picked.values()) == {(0, "one"), (1, "two"), (2, "three"), (3, "four")}
    again = _load(tmp_path, *rows[::-1], response="reference", seed=3)
    assert {d.meta["prompt_id"]: (d.meta["reference_response"], d.messages[-1].text) for d in again} == picked


@pytest.mark.parametrize("data", [None, {"ideal_completion": "Rest."}, _references(), _references(None, " ")])
def test_a_row_without_a_reference_response_is_skipped_and_counted(tmp_path: Path, data: dict | None) -> None:
    rows = [_row("a", ideal_completions_data=_references("", "two")), _row("b", ideal_completions_data=data)]
    by_id = {dialogue.meta["prompt_id"]: dialogue for dialogue in _load(tmp_path, *rows, response="reference")}
    assert by_id["a"].messages[-1].text == "two"
    assert by_id["b"].failure and by_id["b"].failure.kind == "no_reference_completion"
    assert by_id["b"].state == "skipped"


@pytest.mark.parametrize(
    ("references", "complaint"),
    [("one", "ref_completions is str, not a list"), (["one", 2], "reference completion 1 is int, not a string")],
)
def test_a_faulty_reference_response_names_its_line(tmp_path: Path, references: Any, complaint: str) -> None:
    row = _row("a", ideal_completions_data={"ideal_completions_ref_completions": references})
    with pytest.raises(ValueError, match=f"toy.jsonl line 1: .*{complaint}"):
        _load(tmp_path, row, response="reference")


@pytest.mark.parametrize(("contexts", "ids"), [("all", "ab"), ("multi_turn", "b"), ("single_turn", "a")])
def test_contexts_are_chosen_by_their_length(tmp_path: Path, contexts: str, ids: str) -> None:
    dialogues = _load(tmp_path, _row("a"), _row("b", prompt=CHAT), contexts=contexts)
    assert "".join(sorted(dialogue.meta["prompt_id"] for dialogue in dialogues)) == ids


def test_the_control_ends_in_the_real_user_turn(tmp_path: Path) -> None:
    dialogues = _load(tmp_path, _row("a"), _row("b", prompt=CHAT), _row("c", None, prompt=CHAT), control=True)
    controls = {d.meta["prompt_id"]: d for d in dialogues if d.task == "healthbench_real_user"}
    assert len(dialogues) == 5 and set(controls) == {"b", "c"}
    assert [(m.role, m.text) for m in controls["b"].messages] == [(m["role"], m["content"]) for m in CHAT]
    assert controls["b"].meta == {"prompt_id": "b", "tags": ["theme:toy"], "canary": CANARY, "source": "real_user"}
    assert all(control.real_user and control.state == "ok" for control in controls.values())
    assert not any(d.real_user for d in dialogues if d.task == "healthbench")


def test_a_limit_counts_rows_and_their_controls_come_with_them(tmp_path: Path) -> None:
    rows = [_row(str(number), prompt=CHAT) for number in range(12)]
    few, more = (_load(tmp_path, *rows, limit=limit, control=True) for limit in (3, 7))
    assert len(few) == 6 and few == more[:6]


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
        ({"prompt_id": "a"}, "line 2: its prompt_id is already at"),
    ],
)
def test_a_faulty_row_names_its_line(tmp_path: Path, changes: dict, complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        _load(tmp_path, _row("a"), _row(**{"prompt_id": "b"} | changes))
    assert "healthbench_subset_toy.jsonl line 2" in str(caught.value)
    assert complaint in str(caught.value)


def test_the_real_rows_end_in_a_response_or_are_skipped(data_dir: Path) -> None:
    dialogues = healthbench.load(data_dir=data_dir)
    assert {dialogue.state for dialogue in dialogues} <= {"ok", "skipped"}
    assert len(dialogues) == len({dialogue.id for dialogue in dialogues})
    for dialogue in dialogues:
        assert dialogue.messages[-1].role == ("user" if dialogue.failure else "assistant")
        assert dialogue.meta["canary"].startswith("healthbench:")


def test_every_real_conversation_of_several_turns_gives_a_control(data_dir: Path) -> None:
    dialogues = healthbench.load(data_dir=data_dir, response="reference", contexts="multi_turn", control=True)
    controls = [dialogue for dialogue in dialogues if dialogue.real_user]
    rows = [dialogue for dialogue in dialogues if not dialogue.real_user]
    assert len(controls) == len(rows) > 200
    assert len({dialogue.id for dialogue in dialogues}) == len(dialogues)
    assert {len(control.messages) % 2 for control in controls} == {1}
    assert sum(row.state == "ok" for row in rows) > 100
