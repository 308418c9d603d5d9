"""The answers of another run: whose they are, with their grades, and which runs cannot give any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.stored_answers import StoredAnswers

QUESTION = Dialogue("gsm8k", (Message("user", "2 + 2?"),), reference="4", meta={"row": 1})
ANSWERED = QUESTION.says(Message("assistant", "4", "tiny@0123", "stop", 2))
JUDGED = replace(
    ANSWERED.says(Message("user", "Why?", "tiny@0123", "stop", 2)),
    correct=True,
    judgement=Judgement("genuine_followup", True, "local-1"),
)
HELD_OUT = Dialogue("healthbench", (Message("user", "Fever?"), Message("assistant", "Rest.")), meta={"row": 2})


def test_a_dialogue_gets_its_answer_and_its_grade(make_run: Callable[..., Path]) -> None:
    stored = StoredAnswers(make_run("base", [JUDGED]))
    assert stored(QUESTION) == replace(ANSWERED, correct=True)
    assert stored(HELD_OUT) == HELD_OUT
    assert stored.protocol["answers_from"] == "SmolLM2-135M-Instruct@0123"
    assert set(stored.protocol) == {"answers_from", "answers", "answers_sha"}


def test_on_the_answers_of_another_only_what_a_model_answers_is_asked(make_run: Callable[..., Path]) -> None:
    stored = StoredAnswers(make_run("base", [JUDGED]))
    assert stored.are_of("SmolLM2-135M-Instruct@0123") and not stored.are_of("other@4567")
    lacking = replace(QUESTION, failure=Failure("load", "no_ideal_completion"), id="lacking")
    control = Dialogue("t_real_user", (*HELD_OUT.messages, Message("user", "How?")), meta={"source": "real_user"})
    assert stored.asked([HELD_OUT, QUESTION, lacking, control]) == [QUESTION]
    with pytest.raises(ConfigError, match="every row of these tasks has its response from the data"):
        stored.asked([HELD_OUT, lacking, control])


def test_answers_that_were_themselves_stored_keep_their_author(make_run: Callable[..., Path]) -> None:
    assert (
        StoredAnswers(make_run("cross", [JUDGED], answers_from="other@4567")).protocol["answers_from"] == "other@4567"
    )


def test_a_row_without_an_answer_is_a_failure_that_may_pass(make_run: Callable[..., Path]) -> None:
    failed = replace(QUESTION, failure=Failure("generate", "out_of_memory"))
    failure = StoredAnswers(make_run("base", [failed, replace(JUDGED, meta={"row": 5}, id="")]))(QUESTION).failure
    assert failure is not None and failure.kind == "no_stored_answer" and not failure.permanent


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"finish": False}, "answers_from: the run in .* is not finished"),
        ({"perturbation": {"name": "truncate", "fraction": 0.5}}, "has perturbed answers"),
    ],
)
def test_a_run_that_cannot_give_answers_is_refused(make_run: Callable[..., Path], fields: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        StoredAnswers(make_run("base", [JUDGED], **fields))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.jsonl", None, "answers_from: .*base has no rows"),
        ("rows.jsonl", "{}\n{}\n", "line 1 is not a valid row"),
        ("manifest.json", "[]", "answers_from: .*base was not written by this version"),
        ("manifest.json", None, "answers_from: .*base is not a run folder"),
        ("summary.json", "{", "summary.json is not valid JSON"),
    ],
)
def test_a_damaged_run_is_named(make_run: Callable[..., Path], name: str, content: str | None, message: str) -> None:
    path = make_run("base", [JUDGED]) / name
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(ConfigError, match=message):
        StoredAnswers(path.parent)
