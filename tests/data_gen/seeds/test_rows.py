"""A model's own answers from a finished run: only train rows, only complete answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from data_gen.seeds import rows
from eval.config import ConfigError
from eval.dialogue import Dialogue, Judgement, Message

MakeRun = Callable[..., Path]


def row(task: str = "gsm8k", split: str | None = "train", finish: str = "stop", number: int = 0) -> Dialogue:
    loaded = Dialogue(task, (Message("user", f"question {number}"),), "4", {"split": split} if split else {})
    dialogue = loaded.says(Message("assistant", f"It is {number}.", "tiny@1", finish, 4)).says(
        Message("user", "Why?", "tiny@1", "stop", 2)
    )
    return replace(dialogue, judgement=Judgement("other", False, "j"))


def test_a_seed_is_a_row_up_to_its_answer_with_an_id_of_its_own(make_run: MakeRun) -> None:
    original = row(number=1)
    (seed,) = rows.load(run=make_run([original]))
    assert seed.messages == original.messages[:2]
    assert (seed.reference, seed.judgement) == ("4", None)
    other = replace(
        original, messages=(original.messages[0], Message("assistant", "Not that.", "other@2"), original.messages[2])
    )
    assert seed.id != rows.load(run=make_run([other], name="other"))[0].id


def test_truncated_answers_are_dropped_unless_included(make_run: MakeRun) -> None:
    run = make_run([row(number=1), row(number=2, finish="length")])
    assert len(rows.load(run=run)) == 1
    assert len(rows.load(run=run, cut_off=True)) == 2


@pytest.mark.parametrize(
    ("task", "split"),
    [
        ("gsm8k", "test"),
        ("gsm8k", None),
        ("healthbench", None),
        ("healthbench_real_user", None),
        ("coval", None),
        ("gpqa_diamond", None),
        ("ifeval", None),
        ("ifbench", None),
        ("pocket_math", None),
    ],
)
def test_an_evaluation_row_is_rejected(make_run: MakeRun, task: str, split: str | None) -> None:
    with pytest.raises(ValueError, match=f"an evaluation row of {task}"):
        rows.load(run=make_run([row(number=1), row(task, split, number=2)]))


def test_a_run_that_is_not_finished_or_perturbed_is_refused(make_run: MakeRun, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no run folder"):
        rows.load(run=tmp_path / "none")
    with pytest.raises(ConfigError, match="not finished"):
        rows.load(run=make_run([row()], name="half", finish=False))
    with pytest.raises(ValueError, match="perturbed"):
        rows.load(run=make_run([row()], name="changed", perturbation={"name": "truncate"}))
    with pytest.raises(ValueError, match="no row with a complete answer"):
        rows.load(run=make_run([row(finish="length")], name="cut"))
