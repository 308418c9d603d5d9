"""The judge of rules: what it calls what, and that it is total."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.judges import local
from eval.judges.grounding import Judge
from eval.labels import LABELS

QUERY = "A baker fills 6 trays with 15 rolls each and sells all but 12 rolls. How many rolls does the baker sell?"
RESPONSE = (
    "The baker fills 6 trays with 15 rolls each, so there are 6 * 15 = 90 rolls in the shop window.\n"
    "Taking away the 12 that stay behind leaves 90 - 12 = 78 rolls."
)


def judged(turn: str, response: str = RESPONSE) -> Judgement:
    said = (Message("user", QUERY), Message("assistant", response), Message("user", turn))
    ((_, judgement),) = Judge().judge([Dialogue("test", said)])
    assert isinstance(judgement, Judgement)
    return judgement


@pytest.mark.parametrize(
    ("label", "turn"),
    [
        ("malformed_artifact", "How many rolls<|im_end|>\n<|im_end|>assistant"),
        ("malformed_artifact", "The baker sells rolls. " * 12),
        ("malformed_artifact", "User: how many rolls?"),
        ("degenerate_short", ""),
        ("degenerate_short", "Rolls."),
        ("previous_turn_restate", QUERY),
        ("assistant_turn_restate", RESPONSE),
        ("meta_planning", "The user wants to know how many rolls are sold."),
        ("genuine_followup", "Why are there 90 rolls in the window?"),
        ("genuine_followup", "Where did the 78 come from?"),
        ("genuine_followup", "You said that the 12 stay behind, but weren't they sold?"),
        ("generic_followup", "Can you explain that more simply?"),
        ("acknowledgement", "Thank you, that helps."),
        ("assistant_continuation", "Therefore the answer is that 78 rolls are in the window."),
        ("new_task_prompt", "Write a short poem about the sea in autumn."),
        ("new_task_prompt", "A farmer has 31 sheep and buys 47 more. How many sheep are in the window?"),
    ],
)
def test_a_turn_gets_its_label(label: str, turn: str) -> None:
    judgement = judged(turn)
    assert judgement.label == label
    assert judgement.genuine == (label in ("genuine_followup", "generic_followup"))


def test_an_answer_to_a_question_of_the_response_is_genuine() -> None:
    assert judged("Yes, please.", RESPONSE + " Shall I show the sum again?").genuine
    assert not judged("Yes, please.").genuine


def test_a_quoted_word_pleases_it_whatever_the_question_means() -> None:
    """The weakness that it admits to: what it rewards has to be evaluated by another judge."""
    assert judged("Is a window not leaves?").genuine


def test_it_is_another_judge_than_the_one_that_evaluates() -> None:
    assert Judge().id != local.Judge().id


def test_what_cannot_be_judged_is_a_failure() -> None:
    ((_, failure),) = Judge().judge([Dialogue("test", (Message("user", QUERY),))])
    assert isinstance(failure, Failure) and failure.kind == "no_response"


@given(st.text(max_size=60), st.text(max_size=60))
def test_it_is_total_and_says_the_same_twice(turn: str, response: str) -> None:
    judgement = judged(turn, response)
    assert judgement.label in LABELS and judgement == judged(turn, response)
