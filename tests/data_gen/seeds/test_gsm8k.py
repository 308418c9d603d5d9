"""Train questions with their solutions: without annotations, always graded as correct, asked as configured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data_gen.seeds import gsm8k
from eval.grading.answers import INSTRUCTION
from eval.tasks.gsm8k import check


def folder(tmp_path: Path, *answers: str, split: str = "train") -> Path:
    path = tmp_path / "gsm8k" / f"{split}.jsonl"
    path.parent.mkdir(exist_ok=True)
    rows = [{"question": f"How many of {number}?", "answer": answer} for number, answer in enumerate(answers)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_a_solution_is_an_answer_without_notes_that_is_graded_right(evaluation_dir: Path) -> None:
    seeds = gsm8k.load(data_dir=evaluation_dir)
    assert len(seeds) == 8
    for seed in seeds:
        assert [message.role for message in seed.messages] == ["user", "assistant"]
        assert "<<" not in seed.messages[1].text
        assert seed.correct and check(seed)
        assert seed.task == "gsm8k" and seed.meta["split"] == "train"
    assert {"1217", "1103"} < {seed.reference for seed in seeds}


def test_a_question_is_asked_as_configured(evaluation_dir: Path) -> None:
    instructed = gsm8k.load(data_dir=evaluation_dir, prompt="instructed")
    assert all(seed.messages[0].text.endswith(INSTRUCTION) for seed in instructed)
    assert all(seed.messages[1].text.splitlines()[-1].startswith("#### ") for seed in instructed)
    plain = gsm8k.load(data_dir=evaluation_dir, prompt="plain")
    assert not any(INSTRUCTION in seed.messages[0].text for seed in plain)
    both = gsm8k.load(data_dir=evaluation_dir)
    assert {INSTRUCTION in seed.messages[0].text for seed in both} == {True, False}
    assert {seed.id for seed in both} <= {seed.id for seed in [*instructed, *plain]}


def test_plain_answers_end_in_several_ways(tmp_path: Path) -> None:
    data = folder(tmp_path, *(f"So {n} + 1 = {n + 1} are left.\n#### {n + 1}" for n in range(40)))
    seeds = gsm8k.load(data_dir=data, prompt="plain")
    last = {seed.messages[1].text.splitlines()[-1].rstrip("0123456789.").strip() for seed in seeds}
    assert last == {"####", "The answer is", "So the answer is", "Answer:"}
    assert all(check(seed) for seed in seeds)


def test_a_negative_number_and_one_with_commas_are_kept(tmp_path: Path) -> None:
    seeds = gsm8k.load(
        data_dir=folder(tmp_path, "It falls to 5-9=<<5-9=-4>>-4.\n#### -4", "All in all 1,000.\n#### 1,000")
    )
    assert {seed.reference for seed in seeds} == {"-4", "1000"}


def test_a_larger_limit_only_adds_questions(evaluation_dir: Path) -> None:
    small, large = (gsm8k.load(limit, seed=3, data_dir=evaluation_dir) for limit in (3, 6))
    assert large[:3] == small


def test_the_test_split_is_never_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    with pytest.raises(FileNotFoundError, match=r"gsm8k/train\.jsonl"):
        gsm8k.load(data_dir=folder(tmp_path, "One.\n#### 1", split="test"))


@pytest.mark.parametrize("answer", ["There are 12.", "There are 12.\n#### twelve"])
def test_a_solution_that_cannot_be_graded_is_an_error(tmp_path: Path, answer: str) -> None:
    with pytest.raises(ValueError, match=r"line 1: .*use the official file"):
        gsm8k.load(data_dir=folder(tmp_path, answer))


def test_every_official_solution_is_graded_right(data_dir: Path) -> None:
    assert len(gsm8k.load(data_dir=data_dir)) == 7473
