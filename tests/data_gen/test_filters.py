"""Each filter rejects its fault and passes a conversation without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from data_gen import filters
from data_gen.filter_context import Context, Predicate
from eval.dialogue import Dialogue

Make = Callable[..., Any]
ALL: list[Predicate] = [
    filters.malformed,
    filters.cut_off,
    filters.length,
    filters.special_token,
    filters.role_confusion,
    filters.repeated_turn,
]


def reasons(dialogue: Dialogue, context: Context) -> list[str]:
    return [reason.name for predicate in ALL if (reason := predicate(dialogue, context))]


def test_a_sound_conversation_passes_every_filter(make_conversation: Make, make_context: Make) -> None:
    assert reasons(make_conversation(), make_context()) == []
    ends_with_the_user = make_conversation("Why 200 ml?", "So it drains.", "And in winter?", styles=("extend",) * 2)
    assert reasons(ends_with_the_user, make_context()) == []


@pytest.mark.parametrize("count", [0, 3, 4])
def test_turns_that_differ_from_the_plan_are_malformed(make_conversation: Make, make_context: Make, count: int) -> None:
    conversation = make_conversation("a one", "b two", "c three", "d four", styles=("extend", "extend"))
    turns = Dialogue("collab", conversation.messages[: 2 + count], meta={**conversation.meta, "styles": ["extend"]})
    assert reasons(turns, make_context())[0] == "malformed"


def test_a_lone_surrogate_is_malformed(make_conversation: Make, make_context: Make) -> None:
    assert reasons(make_conversation("Why \ud83c?", "So."), make_context()) == ["malformed"]


def test_a_turn_at_its_token_limit_is_cut_off(make_conversation: Make, make_context: Make) -> None:
    assert reasons(make_conversation(finish="length"), make_context()) == ["cut_off"]
    assert reasons(make_conversation(finish="stop"), make_context()) == []


@pytest.mark.parametrize(
    ("user", "assistant", "limits"),
    [
        ("", "Yes.", {}),
        ("   ", "Yes.", {}),
        ("why " * 121, "Yes.", {}),
        ("why", "", {}),
        ("why", "so " * 401, {}),
        ("why so", "Yes.", {"user_words": (3, 9)}),
    ],
)
def test_too_few_or_too_many_words(
    make_conversation: Make, make_context: Make, user: str, assistant: str, limits: dict
) -> None:
    assert "length" in reasons(make_conversation(user, assistant), make_context(**limits))


@pytest.mark.parametrize(
    "token",
    [
        *("<|im_end|>", "<|im_start|>user", "<|start|>assistant<|channel|>final<|message|>", "<|endoftext|>"),
        *("[gMASK]<sop>", "<|user|>", "</think>", "<think>", "[INST]", "<end_of_turn>", "</s>", "<|eot_id|>"),
    ],
)
@pytest.mark.parametrize("turn", [0, 1])
def test_special_tokens_of_every_family(make_conversation: Make, make_context: Make, token: str, turn: int) -> None:
    texts = ["Why 200 ml?", "So it drains."]
    texts[turn] += f" {token}"
    assert "special_token" in reasons(make_conversation(*texts), make_context())


@pytest.mark.parametrize("text", ["Is x <y> or y | z?", "if (a < b || c > d) what then?", "Use [INSTALL] first?"])
def test_other_marks_are_not_special_tokens(make_conversation: Make, make_context: Make, text: str) -> None:
    assert reasons(make_conversation(text, "It drains."), make_context()) == []


@pytest.mark.parametrize(
    "text",
    [
        "User: why 200 ml?",
        "Why?\nAssistant: because it drains.",
        "As an AI, I cannot water ferns.",
        "I'm an AI language model and have no garden.",
        "Let me know if you have further questions!",
        "How can I help you today?",
        "Sure, here is a list of ferns.",
        "I hope this helps.",
    ],
)
def test_a_user_who_speaks_as_the_assistant(make_conversation: Make, make_context: Make, text: str) -> None:
    assert reasons(make_conversation(text, "It drains."), make_context()) == ["role_confusion"]


@pytest.mark.parametrize(
    "text",
    [
        "As an aid, could I use a bottle?",
        "How can I help the fern through winter?",
        "Can the assistant gardener do it?",
        "Here is what I did: 300 ml, and it drips. Is that why?",
    ],
)
def test_a_user_who_speaks_as_a_user(make_conversation: Make, make_context: Make, text: str) -> None:
    assert reasons(make_conversation(text, "It drains."), make_context()) == []


def test_a_repeated_turn(make_conversation: Make, make_context: Make) -> None:
    context = make_context()
    again = make_conversation("Why so?", "It drains.", "why so", "It does.", styles=("extend", "extend"))
    assert reasons(again, context) == ["repeated_turn"]
    assert reasons(make_conversation("How often do I water a fern", "Twice."), context) == ["repeated_turn"]
    assert reasons(make_conversation("Why so?", "Why so."), context) == [], (
        "what the assistant repeats is its own affair"
    )


def test_a_follow_up_must_be_judged_genuine(make_conversation: Make, make_context: Make, give_verdicts: Make) -> None:
    context = make_context()
    one = make_conversation()
    assert filters.not_genuine(give_verdicts(one, "genuine_followup"), context) is None
    reason = filters.not_genuine(give_verdicts(one, "new_task_prompt", genuine=False), context)
    assert reason is not None and reason.detail == "message 2: new_task_prompt"


def test_an_unjudged_follow_up_does_not_pass(make_conversation: Make, make_context: Make, give_verdicts: Make) -> None:
    reason = filters.unjudged(give_verdicts(make_conversation(), None), make_context())
    assert reason is not None and (reason.name, reason.detail) == ("unjudged", "message 2: timeout")


def test_a_plain_ending_needs_no_verdict(make_conversation: Make, make_context: Make, give_verdicts: Make) -> None:
    ending = make_conversation(styles=("acknowledge",))
    assert filters.unjudged(give_verdicts(ending, None), make_context()) is None
    assert filters.not_genuine(give_verdicts(ending, "acknowledgement", genuine=False), make_context()) is None
