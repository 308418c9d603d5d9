"""CoVal: synthetic rows in the released format; choice of the response and contexts, and skipped rows."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eval.dialogue import Dialogue, Message
from eval.tasks import coval


def _turn(role: str, text: Any) -> dict:
    return {"role": role, "content": text}


def _row(prompt_id: str, *rankings: str, turns: int = 1, texts: str = "ABCD", **changes: Any) -> dict:
    chat = [_turn("developer", "Be brief.")]
    for turn in range(turns):
        chat += [_turn("user", f"Is {prompt_id} {turn} fair?"), _turn("assistant", "It depends.")]
    world = [{"ranking": ranking, "rationale": "toy"} for ranking in rankings]
    return {
        "prompt_id": prompt_id,
        "prompt": {"id": prompt_id, "messages": chat[:-1]},
        "responses": [
            {"response_index": letter, "messages": [_turn("assistant", f" Response {letter}.\n")]} for letter in texts
        ],
        "metadata": {"assessments": [{"annotator_id": "x", "ranking_blocks": {"world": world, "personal": []}}]},
    } | changes


def _load(tmp_path: Path, *rows: dict, **options: Any) -> list[Dialogue]:
    path = tmp_path / "coval" / "comparisons.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return coval.load(data_dir=tmp_path, **options)


def test_the_context_is_the_prompt_with_its_developer_as_system_and_the_response(tmp_path: Path) -> None:
    (dialogue,) = _load(tmp_path, _row("a"), response="C")
    assert dialogue.messages == (
        Message("system", "Be brief."),
        Message("user", "Is a 0 fair?"),
        Message("assistant", "Response C."),
    )
    assert dialogue.task == "coval" and dialogue.meta == {"prompt_id": "a", "response": "C"}
    assert dialogue.reference is None and coval.check(dialogue) is None


def test_by_default_the_hash_of_the_prompt_id_picks_one_of_the_four(tmp_path: Path) -> None:
    rows = [_row(f"prompt {number}") for number in range(200)]
    picked = {d.meta["prompt_id"]: d.messages[-1].text for d in _load(tmp_path, *rows)}
    counts = Counter(picked.values())
    assert set(counts) == {f"Response {letter}." for letter in "ABCD"} and min(counts.values()) > 30
    assert {d.meta["prompt_id"]: d.messages[-1].text for d in _load(tmp_path, *rows[::-1], seed=5)} == picked


def test_the_hash_picks_among_the_responses_that_have_a_text(tmp_path: Path) -> None:
    rows = [_row(str(number), texts="BD") for number in range(40)]
    assert {dialogue.meta["response"] for dialogue in _load(tmp_path, *rows)} == {"B", "D"}


def test_the_best_has_the_lowest_mean_rank_for_the_world(tmp_path: Path) -> None:
    (dialogue,) = _load(tmp_path, _row("a", "A>B>C>D", "B>C>A>D"), response="best")
    assert dialogue.meta["response"] == "B" and dialogue.messages[-1].text == "Response B."


@pytest.mark.parametrize(
    ("row", "response"),
    [
        (_row("b", texts="AB"), "C"),
        (_row("b", texts=""), "hash"),
        (_row("b"), "best"),
        (_row("b", "A>B"), "best"),
        (_row("b", responses=[{"response_index": "A", "messages": [_turn("assistant", " ")]}]), "A"),
    ],
)
def test_a_row_without_the_chosen_response_is_skipped_and_counted(tmp_path: Path, row: dict, response: str) -> None:
    dialogues = _load(tmp_path, _row("a", "A>B>C>D"), row, response=response)
    assert sorted(dialogue.state for dialogue in dialogues) == ["ok", "skipped"]
    (skipped,) = [dialogue for dialogue in dialogues if dialogue.failure]
    assert skipped.failure and skipped.failure.kind == "no_response" and "line 2" in skipped.failure.detail
    assert skipped.messages[-1].role == "user"


def test_only_contexts_of_several_turns(tmp_path: Path) -> None:
    rows = [_row("a"), _row("b", turns=2), _row("c", turns=3)]
    assert {d.meta["prompt_id"] for d in _load(tmp_path, *rows, contexts="multi_turn")} == {"b", "c"}
    assert len(_load(tmp_path, *rows)) == 3


def test_the_control_ends_in_the_real_user_turn(tmp_path: Path) -> None:
    dialogues = _load(tmp_path, _row("a"), _row("b", turns=2), control=True)
    (control,) = [dialogue for dialogue in dialogues if dialogue.real_user]
    assert len(dialogues) == 3 and control.task == "coval_real_user"
    assert [m.role for m in control.messages] == ["system", "user", "assistant", "user"]
    assert control.messages[-1].text == "Is b 1 fair?"
    assert control.meta == {"prompt_id": "b", "source": "real_user"}


def test_a_larger_limit_keeps_the_smaller_selection(tmp_path: Path) -> None:
    rows = [_row(str(number)) for number in range(20)]
    assert _load(tmp_path, *rows, limit=4, seed=1) == _load(tmp_path, *rows, limit=9, seed=1)[:4]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"prompt": "flat"}, "column 'prompt': 'flat' is not of type dict"),
        ({"prompt": {"id": "b"}}, "messages must be a list with at least one message"),
        ({"prompt": {"messages": [_turn("critic", "x")]}}, "message 0: role 'critic' is not one of"),
        ({"prompt": {"messages": [_turn("user", {"parts": ["x"]})]}}, "message 0: content {'parts': ['x']} is not"),
        ({"prompt": {"messages": [_turn("assistant", "x")]}}, "the prompt ends in a assistant message"),
        ({"responses": None}, "column 'responses': None is not of type list"),
        ({"responses": ["A"]}, "response 0: response_index None is not a letter"),
        ({"responses": [{"response_index": "A"}]}, "response 0: messages must be a list"),
        (
            {"responses": _row("b", texts="AA")["responses"]},
            "response 1: response_index 'A' is not a letter, or repeated",
        ),
        (
            {"responses": [{"response_index": "A", "messages": [_turn("user", "x")]}]},
            "its message has the role user",
        ),
        ({"metadata": {}}, "metadata has no rankings for the world (KeyError('assessments'))"),
        ({"prompt_id": "a"}, "line 2: its prompt_id is already at"),
    ],
)
def test_a_faulty_row_names_its_line(tmp_path: Path, changes: dict, complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        _load(tmp_path, _row("a", "A>B>C>D"), _row("b") | changes, response="best")
    assert "comparisons.jsonl line 2" in str(caught.value) and complaint in str(caught.value)


def test_the_documented_shape_is_read(data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "coval").mkdir()
    shutil.copy(data_dir / "coval" / "SYNTHETIC_shape_fixture_3.jsonl", tmp_path / "coval" / "comparisons.jsonl")
    dialogues = coval.load(data_dir=tmp_path, response="best", control=True)
    assert [dialogue.state for dialogue in dialogues] == ["ok"] * 4
    assert sum(dialogue.real_user for dialogue in dialogues) == 1
