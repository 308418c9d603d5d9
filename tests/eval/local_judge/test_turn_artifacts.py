# ruff: noqa: RUF001 (tokens of several scripts)
from __future__ import annotations

import pytest

from eval.local_judge.turn_artifacts import debris_share, loop_share, repeated_clauses, role_headers, special_tokens


@pytest.mark.parametrize(
    "text",
    [
        "<|eot_id|>",
        "<|start|>user<|message|>",
        "[/INST]",
        "<<SYS>>",
        "</s>",
        "<end_of_turn>",
        "<｜end▁of▁sentence｜>",
        "[gMASK]",
        "/nothink",
        "/no_think",
        "</think> How long?",
        "assistantfinal",
        "assistantanalysisWe need",
    ],
)
def test_special_tokens_of_any_family_are_seen(text):
    assert special_tokens(f"hello {text}", known="") >= 1


def test_a_channel_begins_a_turn_only():
    assert special_tokens("analysisThe user asks for more", known="") == 1
    assert special_tokens("Your analysis. Is analysisTool free?", known="") == 0


def test_thoughts_that_the_turn_opens_are_no_debris():
    assert special_tokens("<think>The user asks.</think> Why?", known="") == 0
    assert special_tokens("a</think>b<think>c</think>", known="") == 1


@pytest.mark.parametrize("text", ["I think/not", "rethink it", "x/thinker", "the assistant finally said"])
def test_words_like_control_words_are_none(text):
    assert special_tokens(text, known="") == 0


@pytest.mark.parametrize("text", ["a < b | c > d", "<script>", "x[0]", "5 <| 6", "i <3 you", "use <b>bold</b>"])
def test_ordinary_text_holds_none(text):
    assert special_tokens(text, known="") == 0


def test_a_token_that_the_conversation_spoke_of_is_known():
    assert special_tokens("what is </s> for?", known="the token </s> ends it") == 0


def test_role_headers_stand_at_line_starts():
    assert role_headers("User: hi\nAssistant: hello") >= 2
    assert role_headers("assistant\nThe answer is 4") == 1
    assert role_headers("assistantanalysisThe user asks") == 1
    assert role_headers("I am a new user: help") == 0


def test_a_loop_is_three_repeats_of_one_unit():
    assert loop_share(["a", "b", "a", "b", "a", "b"]) == (1.0, 0)
    assert loop_share(["x", "y", "z", "a", "b", "a", "b", "a", "b"]) == (pytest.approx(6 / 9), 3)
    assert loop_share(["a", "b", "a", "b"]) == (0.0, 4)
    assert loop_share(["one", "two", "three", "four"]) == (0.0, 4)
    assert loop_share([]) == (0.0, 0)


def test_a_cut_off_last_repeat_belongs_to_the_loop():
    assert loop_share(["a", "b", "c", "a", "b", "c", "a", "b", "c", "a", "b"]) == (1.0, 0)


def test_clauses_are_counted():
    assert repeated_clauses("i see it. i see it! you see. i see it") == 3
    assert repeated_clauses("") == 0


def test_debris_is_marks_that_prose_does_not_use():
    assert debris_share("Why 12? I don't see it.") == 0
    assert debris_share("{[}]") == 1
