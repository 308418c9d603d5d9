"""Exact strings, listed in `harmony.json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.dialogue import Message
from eval.formats.harmony import DATE, Format

CASES = json.loads(Path(__file__).with_suffix(".json").with_stem("harmony").read_text())
HELLO = [Message("user", "hi"), Message("assistant", "yo")]


@pytest.fixture(scope="session")
def harmony(harmony_tokenizer):
    return Format(harmony_tokenizer)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['case']}-{case['history']}")
def test_exact_string(harmony_tokenizer, case):
    chat_format = Format(harmony_tokenizer, history=case["history"], **case["options"])
    messages = [Message(role, text, reasoning="".join(rest) or None) for role, text, *rest in case["messages"]]
    ids = chat_format.open_turn(messages, case["opens"]) if case["opens"] else chat_format.ids(messages)
    assert harmony_tokenizer.decode(ids) == case["writes"]


def test_a_user_turn_follows_an_answer_closed_by_end_not_return(harmony_tokenizer, harmony):
    opened = harmony_tokenizer.decode(harmony.open_turn(HELLO, "user"))
    assert opened.endswith("<|channel|>final<|message|>yo<|end|><|start|>user<|message|>")
    assert "<|return|>" not in opened
    assert harmony_tokenizer.convert_tokens_to_ids("<|end|>") in harmony.stop_ids("user")


def test_the_end_of_the_reasoning_is_not_the_end_of_an_answer(harmony_tokenizer, harmony):
    stops = {harmony_tokenizer.convert_ids_to_tokens(token) for token in harmony.stop_ids("assistant")}
    assert stops == {"<|return|>", "<|call|>"}


@pytest.mark.parametrize("effort", ["low", "medium", "high"])
def test_the_preamble_has_a_pinned_date_and_the_effort(harmony_tokenizer, effort):
    chat_format = Format(harmony_tokenizer, reasoning_effort=effort)
    opened = harmony_tokenizer.decode(chat_format.open_turn(HELLO[:1], "assistant"))
    assert f"\nCurrent date: {DATE}\n\nReasoning: {effort}\n\n# Valid channels" in opened
    assert chat_format.options == {"reasoning_effort": effort, "date": DATE}


ANALYSIS = "<|channel|>analysis<|message|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    ("generated", "expected"),
    [
        (f"{ANALYSIS}He keeps 7.<|end|>{FINAL}Seven.<|return|>", ("Seven.", "He keeps 7.", "stop")),
        (f"{ANALYSIS}He keeps 7.<|end|>{FINAL}Sev", ("Sev", "He keeps 7.", "length")),
        ("<|channel|>final<|message|>Seven.<|return|>", ("Seven.", None, "stop")),
        (f"{ANALYSIS}<|end|>{FINAL}Seven.<|return|>", ("Seven.", None, "stop")),
        (f"{ANALYSIS}a<|end|><|start|>assistant{ANALYSIS}b<|end|>{FINAL}c<|return|>", ("c", "a\nb", "stop")),
        (f"{ANALYSIS}a<|end|>{FINAL}b<|end|>{FINAL}c<|return|>", ("b", "a", "stop")),
        (f"{ANALYSIS}a<|end|>{FINAL}b<|end|><|start|>user<|message|>c", ("b", "a", "stop")),
        ("<|channel|>final <|message|>Seven.<|return|>", ("Seven.", None, "stop")),
        ("<|message|>Seven.<|return|>", ("Seven.", None, "stop")),
        (f"{ANALYSIS}He keeps 12 less", ("", "He keeps 12 less", "length")),
        (f"{ANALYSIS}He keeps 7.<|return|>", ("", "He keeps 7.", "length")),
        (f"{ANALYSIS}a<|end|><|start|>assistant<|channel|>fin", ("", "a", "length")),
        ("<|channel|>commentary to=x<|message|>{}<|call|>", ("", "{}", "length")),
        ("<|channel|>ana", ("", None, "length")),
        ("Seven.<|return|>", ("Seven.", None, "stop")),
        ("", ("", None, "length")),
    ],
)
def test_the_final_message_is_the_text_and_what_came_before_it_the_reasoning(
    harmony_tokenizer, harmony, generated, expected
):
    assert harmony.clean(harmony_tokenizer.encode(generated), "assistant") == expected


def test_a_user_does_not_reason(harmony_tokenizer, harmony):
    generated = harmony_tokenizer.encode("Why<|channel|>?<|end|><|start|>assistant")
    assert harmony.clean(generated, "user") == ("Why<|channel|>?", None, "stop")


def test_all_that_an_answer_generates_is_trained(harmony_tokenizer, harmony):
    _, labels = harmony.example([HELLO[0], Message("assistant", "yo", reasoning="hm.")], "assistant")
    trained = harmony_tokenizer.decode([label for label in labels if label != -100])
    assert trained == f"{ANALYSIS}hm.<|end|>{FINAL}yo<|return|>"
    _, labels = harmony.example([*HELLO, Message("user", "ok")], "user")
    assert harmony_tokenizer.decode([label for label in labels if label != -100]) == "ok<|end|>"


def test_a_late_system_message_is_refused(harmony):
    with pytest.raises(ValueError, match="drops, repeats or reorders a message"):
        harmony.open_turn([*HELLO, Message("system", "x")], "user")


def test_a_missing_mark_is_named(make_tokenizer, trl_template):
    with pytest.raises(
        ValueError, match=r"has no control token <\|end\|> or <\|return\|> or <\|call\|>, so its family is not harm"
    ):
        Format(make_tokenizer(trl_template("gptoss"), "glm"))
