"""GPQA: a synthetic file with the official columns becomes questions; letters are spread; errors quote no text."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import huggingface_hub
import pytest
from huggingface_hub.errors import GatedRepoError, OfflineModeIsEnabled

from eval.dialogue import Message
from eval.gated_text import displayable
from eval.tasks import gpqa

OTHERS = ("Subdomain", "Explanation", "Canary String")


def _row(number: int = 0, **changes: str) -> dict[str, str]:
    row = {
        "Record ID": f"rec{number}",
        "Question": f'Which "toy", of\nkind {number}, is red?',
        "Correct Answer": "the red one\n",
        "Incorrect Answer 1": "the blue one, I think",
        "Incorrect Answer 2": 'the "green" one',
        "Incorrect Answer 3": "the grey one",
    }
    return dict.fromkeys(OTHERS, "x") | row | changes


def _folder(tmp_path: Path, *rows: dict[str, str], subset: str = "diamond") -> Path:
    path = tmp_path / "gpqa" / f"gpqa_{subset}.csv"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path


def test_a_record_becomes_a_question_with_the_letter_of_its_correct_option(tmp_path: Path) -> None:
    (dialogue,) = gpqa.load(data_dir=_folder(tmp_path, _row()))
    (message,) = dialogue.messages
    assert message.role == "user" and 'Which "toy", of\nkind 0, is red?\n\nA) ' in message.text
    assert f"{dialogue.reference}) the red one" in message.text
    assert dialogue.task == "gpqa_diamond"
    assert dialogue.meta == {"subset": "diamond", "record": "rec0", "gated": True}
    assert gpqa.SOURCE.gated and "toy" not in str(displayable(dialogue).to_json()["messages"])


def test_the_subset_chooses_the_file_and_the_name_of_the_task(tmp_path: Path) -> None:
    folder = _folder(tmp_path, _row(1))
    _folder(tmp_path, _row(2), subset="main")
    assert [(d.task, d.meta["record"]) for d in gpqa.load(data_dir=folder, subset="main")] == [("gpqa_main", "rec2")]
    assert gpqa.load(data_dir=folder)[0].meta["record"] == "rec1"


def test_one_run_can_hold_both_subsets_each_as_a_task_of_its_own(tmp_path: Path) -> None:
    _folder(tmp_path, *map(_row, range(9)), subset="main")
    folder = _folder(tmp_path, *map(_row, range(4, 8)))
    both = gpqa.load(data_dir=folder, subset="both")
    assert both == gpqa.load(data_dir=folder, subset="main") + gpqa.load(data_dir=folder)
    assert Counter(dialogue.task for dialogue in both) == {"gpqa_main": 9, "gpqa_diamond": 4}
    assert len({dialogue.id for dialogue in both}) == 13, "a run holds no id twice"
    limited = gpqa.load(3, data_dir=folder, subset="both")
    assert Counter(dialogue.task for dialogue in limited) == {"gpqa_main": 3, "gpqa_diamond": 3}


def test_a_file_without_its_header_is_not_quoted(tmp_path: Path) -> None:
    path = _folder(tmp_path, _row()) / "gpqa" / "gpqa_diamond.csv"
    path.write_text(path.read_text(encoding="utf-8-sig").partition("\n")[2] * 2, encoding="utf-8")
    with pytest.raises(ValueError, match="its first line names no column 'Record ID'") as caught:
        gpqa.load(data_dir=tmp_path)
    assert "toy" not in str(caught.value) and "red" not in str(caught.value)


def test_correct_letters_are_spread_over_198_records_and_do_not_depend_on_the_seed(tmp_path: Path) -> None:
    folder = _folder(tmp_path, *map(_row, range(198)))
    dialogues = gpqa.load(data_dir=folder)
    spread = Counter(dialogue.reference for dialogue in dialogues)
    assert set(spread) == set("ABCD") and all(0.15 * 198 < count < 0.35 * 198 for count in spread.values())
    assert {d.id for d in gpqa.load(data_dir=folder, seed=9)} == {d.id for d in dialogues}
    assert gpqa.load(5, seed=1, data_dir=folder) == gpqa.load(9, seed=1, data_dir=folder)[:5]


def test_an_answer_is_graded_by_its_letter(tmp_path: Path) -> None:
    (dialogue,) = gpqa.load(data_dir=_folder(tmp_path, _row()))
    wrong = next(letter for letter in "ABCD" if letter != dialogue.reference)
    assert gpqa.check(dialogue) is None
    assert gpqa.check(dialogue.says(Message("assistant", f"Answer: **{dialogue.reference}**", "m", "stop"))) is True
    assert gpqa.check(dialogue.says(Message("assistant", f"Answer: {wrong}", "m", "stop"))) is False


def test_a_duplicate_of_the_correct_option_is_also_correct(tmp_path: Path) -> None:
    (dialogue,) = gpqa.load(data_dir=_folder(tmp_path, _row(**{"Incorrect Answer 3": "the red one"})))
    assert dialogue.reference and len(dialogue.reference) == 2
    for letter in dialogue.reference:
        assert gpqa.check(dialogue.says(Message("assistant", f"Answer: {letter}", "m", "stop"))) is True


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"Incorrect Answer 2": " \n"}, "row 2: column 'Incorrect Answer 2' is empty"),
        ({"Record ID": "rec0"}, "row 2: its Record ID is already at"),
    ],
)
def test_a_faulty_record_is_placed_and_not_quoted(tmp_path: Path, change: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        gpqa.load(data_dir=_folder(tmp_path, _row(0), _row(1, **change)))
    assert complaint in str(caught.value) and "toy" not in str(caught.value)


@pytest.mark.parametrize("token", [None, "hf_toy"])
def test_without_access_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, token: str | None) -> None:
    def refuse(*_: Any, local_files_only: bool = False, **__: Any) -> str:
        assert local_files_only is (token is None), "without a token there is nothing to ask the Hub for"
        if token:
            raise GatedRepoError("403 Forbidden", response=httpx.Response(403, request=httpx.Request("GET", "/")))
        raise OfflineModeIsEnabled("offline")

    monkeypatch.delenv("USERTURN_DATA", raising=False)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", refuse)
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: token)
    with pytest.raises(FileNotFoundError) as caught:
        gpqa.load()
    error = str(caught.value)
    assert "gpqa/gpqa_diamond.csv" in error and ("a token is set" if token else "no token is set") in error
    assert "accept its terms at https://huggingface.co/datasets/Idavidrein/gpqa" in error and "`hf auth login`" in error
    assert (
        f"`hf download Idavidrein/gpqa gpqa_diamond.csv --repo-type dataset --revision {gpqa.SOURCE.revision}`" in error
    )
