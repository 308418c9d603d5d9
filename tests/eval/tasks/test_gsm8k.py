"""GSM8K: rows to questions with a reference, and the reader against every gold answer of the real files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.dialogue import Message
from eval.grading.answers import read_number
from eval.tasks import gsm8k


def _folder(tmp_path: Path, *rows: dict, split: str = "test") -> Path:
    path = tmp_path / "gsm8k" / f"{split}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def _row(number: str = "18", question: str = "How many eggs?") -> dict:
    return {"question": question, "answer": f"She has 9 + 9 = <<9+9=18>>18 eggs.\n#### {number}"}


def test_a_row_becomes_one_user_turn_with_the_number_as_reference(tmp_path: Path) -> None:
    (dialogue,) = gsm8k.load(data_dir=_folder(tmp_path, _row("1,018")))
    assert [message.role for message in dialogue.messages] == ["user"]
    assert dialogue.messages[0].text.startswith("How many eggs?\n\n")
    assert dialogue.reference == "1018"
    assert dialogue.meta == {"split": "test", "row": 0}
    assert gsm8k.check(dialogue) is None


def test_equal_questions_have_their_own_ids(tmp_path: Path) -> None:
    dialogues = gsm8k.load(data_dir=_folder(tmp_path, _row(), _row()))
    assert len({dialogue.id for dialogue in dialogues}) == 2


def test_a_larger_limit_keeps_the_smaller_selection(tmp_path: Path) -> None:
    folder = _folder(tmp_path, *(_row(str(number)) for number in range(30)))
    few, more = gsm8k.load(5, seed=1, data_dir=folder), gsm8k.load(12, seed=1, data_dir=folder)
    assert few == more[:5] and len(more) == 12
    assert few != gsm8k.load(5, seed=2, data_dir=folder)


def test_the_split_chooses_the_file(tmp_path: Path) -> None:
    _folder(tmp_path, _row("1"), split="train")
    assert gsm8k.load(data_dir=_folder(tmp_path, _row("2")), split="train")[0].reference == "1"


@pytest.mark.parametrize("answer", ["no marker 18", "#### ", "#### many", "#### --3", "#### 1.5"])
def test_a_solution_without_a_number_names_its_line(tmp_path: Path, answer: str) -> None:
    folder = _folder(tmp_path, _row(), {"question": "?", "answer": answer})
    with pytest.raises(ValueError, match=r"test\.jsonl line 2: the answer does not end in '#### <whole number>'"):
        gsm8k.load(data_dir=folder)


def test_a_null_question_names_its_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"test\.jsonl line 1, column 'question': None is not of type str"):
        gsm8k.load(data_dir=_folder(tmp_path, {"question": None, "answer": "#### 1"}))


def test_an_answer_is_correct_wrong_or_truncated(tmp_path: Path) -> None:
    (dialogue,) = gsm8k.load(data_dir=_folder(tmp_path, _row("1,018")))
    assert gsm8k.check(dialogue.says(Message("assistant", "#### $1018.00", "model", "stop"))) is True
    assert gsm8k.check(dialogue.says(Message("assistant", "#### 18", "model", "stop"))) is False
    assert gsm8k.check(dialogue.says(Message("assistant", "#### 1018", "model", "length"))) is False


@pytest.mark.parametrize(("split", "size"), [("test", 1319), ("train", 7473)])
def test_every_real_gold_answer_is_read(data_dir: Path, split: str, size: int) -> None:
    dialogues = gsm8k.load(data_dir=data_dir, split=split)
    assert len(dialogues) == len({dialogue.id for dialogue in dialogues}) == size
    by_row = {dialogue.meta["row"]: dialogue for dialogue in dialogues}
    with (data_dir / "gsm8k" / f"{split}.jsonl").open() as file:
        for row, line in enumerate(file):
            solution = json.loads(line)["answer"]
            gold = int(solution.split("#### ")[1].replace(",", ""))
            assert read_number(solution) == read_number(by_row[row].reference or "") == gold
            assert gsm8k.check(by_row[row].says(Message("assistant", solution, finish="stop"))) is True
