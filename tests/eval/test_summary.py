"""Sums against counts made by hand and by a second, naive program; streaming, order, and refusal of unfinished rows."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import pytest

from eval.dialogue import STATES, Dialogue, Failure, Judgement, Message
from eval.labels import LABELS
from eval.stats.rates import Rate
from eval.summary import TaskSummary, answer_of, ends_in_question, setting_of, summarise, user_turn_of

MODEL = "tiny@0123"


def said(role: str, text: str, by: str = MODEL, finish: str | None = "stop", tokens: int | None = 5) -> Message:
    """A message; one of the data has neither a finish reason nor a token count."""
    return Message(role, text, by, *((finish, tokens) if by != "data" else (None, None)))  # type: ignore[arg-type]


def row(
    answer: Message | None,
    turn: Message | None,
    label: str | None = None,
    genuine: bool = False,
    failure: Failure | None = None,
    task: str = "gsm8k",
    correct: bool | None = None,
    judge: str = "local-1",
) -> Dialogue:
    """A finished row: a query, and whatever was said after it."""
    messages = (said("user", "What is 2 + 2?", by="data"), *(m for m in (answer, turn) if m is not None))
    judgement = Judgement(label, genuine, judge) if label else None
    return Dialogue(task, messages, judgement=judgement, failure=failure, correct=correct)


ANSWER = said("assistant", "It is 4.")
ASKING = said("assistant", "It is 4. Shall I go on?", finish="length")
GIVEN = said("assistant", "It is four.", by="data")
TURN = said("user", "Why 4?", tokens=4)
CUT = said("user", "Why is it that", finish="length", tokens=8)


def one(rows: list[Dialogue]) -> TaskSummary:
    """The summary of rows of one task and setting."""
    (summary,) = summarise(rows)
    return summary


def test_counts_by_hand() -> None:
    summary = one(
        [
            row(ANSWER, TURN, "genuine_followup", True, correct=True),
            row(ASKING, CUT, "generic_followup", True, correct=False),
            row(ANSWER, TURN, "new_task_prompt", False, correct=True),
            row(ANSWER, TURN, failure=Failure("judge", "refusal"), correct=True),
            row(ASKING, None, failure=Failure("generate", "context_too_long"), correct=False),
            row(None, None, failure=Failure("generate", "context_too_long")),
            row(None, None, failure=Failure("load", "no_reference")),
        ]
    )
    assert summary.states == {"ok": 2, "truncated": 1, "gen_error": 2, "judge_error": 1, "skipped": 1}
    assert (summary.total, summary.judged, summary.unjudged) == (7, 3, 4)
    assert summary.genuine == Rate(2, 3), "a truncated user turn is judged and counts"
    assert summary.specific == Rate(1, 3)
    assert summary.accuracy == Rate(3, 5), "rows without a grade are in neither part of the fraction"
    assert summary.questions == Rate(2, 5), "of the answers that exist"
    assert summary.cut_off == Rate(2, 5)
    assert summary.labels == {"generic_followup": 1, "genuine_followup": 1, "new_task_prompt": 1}
    assert summary.mean_user_tokens == (4 + 8 + 4 + 4) / 4
    assert (summary.different_turns, summary.commonest_opening) == (2, 2), "of judged turns"
    assert summary.judges == {"local-1": 3}
    assert summary.setting == "self-generated"


def test_nothing_judged_is_unknown_and_not_zero() -> None:
    summary = one([row(None, None, failure=Failure("generate", "context_too_long"))] * 3)
    assert summary.genuine.point is summary.specific.point is summary.accuracy.point is None
    assert summary.questions.point is summary.mean_user_tokens is None
    assert summarise([]) == []


def test_a_judgement_left_on_a_failed_row_is_no_score() -> None:
    failed = row(ANSWER, TURN, "genuine_followup", True, failure=Failure("judge", "timeout"))
    assert one([failed]).genuine == Rate(0, 0)
    assert one([failed]).labels == {}


def test_held_out_answers_are_neither_pooled_nor_graded() -> None:
    rows = [
        row(GIVEN, TURN, "genuine_followup", True, correct=True),
        row(ANSWER, TURN, "new_task_prompt", False, correct=True),
        row(GIVEN, None, failure=Failure("generate", "context_too_long")),
    ]
    held_out, own = summarise(rows)
    assert (held_out.setting, held_out.total, held_out.genuine) == ("held-out", 2, Rate(1, 1))
    assert held_out.accuracy == held_out.cut_off == Rate(0, 0), "the model did not write the answers"
    assert (own.setting, own.total, own.genuine, own.accuracy) == ("self-generated", 1, Rate(0, 1), Rate(1, 1))


def test_skipped_rows_go_with_their_task() -> None:
    skipped = row(None, None, failure=Failure("load", "no_reference"), task="healthbench")
    judged = row(GIVEN, TURN, "other", task="healthbench")
    summary = one([skipped, judged, skipped])
    assert (summary.setting, summary.total, summary.states["skipped"]) == ("held-out", 3, 2)
    assert one([skipped]).setting is None
    both = summarise([skipped, judged, row(ANSWER, TURN, "other", task="healthbench")])
    assert [(s.setting, s.total) for s in both] == [(None, 1), ("held-out", 1), ("self-generated", 1)]


def test_a_skipped_row_may_have_no_messages() -> None:
    assert one([Dialogue("coval", (), failure=Failure("load", "malformed"))]).states["skipped"] == 1


def test_a_skipped_row_counts_as_skipped_alone() -> None:
    asking = replace(GIVEN, text="Which four?")
    summary = one([row(asking, TURN, "other", correct=True, failure=Failure("load", "no_reference"))])
    assert (summary.total, summary.unjudged) == (1, 1)
    assert summary.genuine == summary.accuracy == summary.questions == Rate(0, 0)
    assert summary.mean_user_tokens is None


def test_a_real_user_turn_is_the_measured_turn() -> None:
    judged = row(GIVEN, said("user", "Why four?", by="data"), "genuine_followup", True)
    control = replace(judged, meta={"source": "real_user"})
    unjudged = replace(control, judgement=None, failure=Failure("judge", "timeout"))
    assert setting_of(control) == setting_of(unjudged) == "held-out"
    assert answer_of(control) == GIVEN
    assert one([control]).genuine == Rate(1, 1)
    assert one([control]).mean_user_tokens is None, "the data has no token counts"


def test_an_empty_user_turn_that_failed_keeps_the_setting() -> None:
    empty = row(GIVEN, said("user", ""), failure=Failure("generate", "empty"))
    assert setting_of(empty) == "held-out"
    assert answer_of(empty) == GIVEN


def test_a_failed_answer_in_a_longer_conversation_has_no_setting_of_its_own() -> None:
    messages = (said("user", "Hi", by="data"), GIVEN, said("user", "And 3 + 3?", by="data"))
    failed = Dialogue("ifeval", messages, failure=Failure("generate", "context_too_long"))
    assert user_turn_of(failed) is None
    assert answer_of(failed) is None
    assert setting_of(failed) is None


def test_a_user_turn_on_another_models_answer_is_the_cross_condition() -> None:
    question = Dialogue("gsm8k", (said("user", "2 + 2?", by="data"),))
    crossed = question.says(said("assistant", "4", by="other@1")).says(said("user", "Why?", by="model@1"))
    failed = replace(question, failure=Failure("generate", "context_too_long"), meta={"row": 2})
    judged = replace(crossed, judgement=Judgement("genuine_followup", True, "toy-1"), correct=True)
    assert setting_of(judged) == "cross"
    (summary,) = summarise([failed, judged])
    assert (summary.setting, summary.total, summary.states["gen_error"]) == ("cross", 2, 1)
    assert summary.accuracy.n == 0


@pytest.mark.parametrize(
    ("unfinished", "lacks"),
    [(row(ANSWER, TURN), "judgement"), (row(ASKING, None), "user turn"), (row(None, None), "user turn")],
)
def test_an_unfinished_row_is_refused_by_name(unfinished: Dialogue, lacks: str) -> None:
    with pytest.raises(ValueError, match=f"gsm8k row {unfinished.id} has neither a {lacks} nor a failure"):
        summarise([unfinished])


@pytest.mark.parametrize(
    "text",
    [
        "Shall I?",
        "Shall I? \n",
        'He asked: "Why?"',
        "**Shall I go on?**",
        "_Really?_",
        "(Or is it?)",
        "“Why?”",
        "続けますか\uff1f",
        "「続けますか\uff1f」",
        "هل تريد المزيد؟",
        "Does that help? 😊",
        "Does that help? 👍🏽❤️",
        "Ready?`",
        "What?\u200b",
    ],
)
def test_questions(text: str) -> None:
    assert ends_in_question(text)


@pytest.mark.parametrize(
    "text", ["", "   ", "**", "Why? Because.", "It is 4", "4!", "a ? b", "x = ?1", "Why?\n\n1. So", "Yes😊"]
)
def test_statements(text: str) -> None:
    assert not ends_in_question(text)


def random_rows(count: int, seed: int = 0) -> Iterator[Dialogue]:
    """Finished rows of all states, two tasks and both settings."""
    rng = random.Random(seed)
    for _ in range(count):
        held_out = rng.random() < 0.4
        task = "coval" if held_out else "gsm8k"
        answer = GIVEN if held_out else rng.choice([ANSWER, ASKING])
        state = rng.choice(STATES)
        graded = None if held_out else rng.choice([True, False, None])
        if state in ("ok", "truncated"):
            turn = replace(CUT if state == "truncated" else TURN, tokens=rng.randint(1, 90))
            label, judge = rng.choice(list(LABELS)), rng.choice(["local-1", "local-2"])
            yield row(answer, turn, label, rng.random() < 0.5, task=task, correct=graded, judge=judge)
        elif state == "judge_error":
            yield row(answer, TURN, failure=Failure("judge", "timeout"), task=task, correct=graded)
        elif state == "gen_error":
            yield row(answer, None, failure=Failure("generate", "empty"), task=task, correct=graded)
        else:
            yield row(None, None, failure=Failure("load", "malformed"), task=task)


@pytest.mark.parametrize("seed", range(5))
def test_sums_equal_a_naive_count(seed: int) -> None:
    rows = list(random_rows(400, seed))
    summaries = summarise(rows)
    assert [(s.task, s.setting) for s in summaries] == [("coval", "held-out"), ("gsm8k", "self-generated")]
    for summary in summaries:
        mine = [r for r in rows if r.task == summary.task]
        judged = [r for r in mine if r.failure is None]
        assert summary.total == len(mine) == sum(summary.states.values())
        assert summary.genuine == Rate(sum(r.judgement.genuine for r in judged if r.judgement), len(judged))
        assert summary.specific.successes == sum(r.judgement.label == "genuine_followup" for r in judged if r.judgement)
        assert summary.accuracy == Rate(sum(r.correct is True for r in mine), sum(r.correct is not None for r in mine))
        tokens = [m.tokens for r in mine for m in r.messages[1:] if m.role == "user" and m.tokens is not None]
        assert summary.mean_user_tokens == sum(tokens) / len(tokens)


def test_order_does_not_matter() -> None:
    rows = list(random_rows(300))
    shuffled = random.Random(1).sample(rows, len(rows))
    assert repr(summarise(rows)) == repr(summarise(shuffled))


def test_memory_stays_flat_as_rows_grow() -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        summarise(random_rows(count))
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    large, small = (min(peak(count) for _ in range(3)) for count in (3_000, 500))  # the first ones hold lazy imports
    assert large < small + 2_500 * 20, "16 bytes a row, to count distinct turns; no row itself is held"
