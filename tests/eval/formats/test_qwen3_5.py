"""Exact strings, listed in `qwen3_5.json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.dialogue import Message
from eval.formats.qwen3_5 import Format

CASES = json.loads(Path(__file__).with_suffix(".json").with_stem("qwen3_5").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['case']}-{case['history']}-{case.get('options', {})}")
def test_exact_string(qwen3_5_tokenizer, case):
    chat_format = Format(qwen3_5_tokenizer, history=case["history"], **case.get("options", {}))
    messages = [Message(role, text, reasoning="".join(rest) or None) for role, text, *rest in case["messages"]]
    ids = chat_format.open_turn(messages, case["opens"]) if case["opens"] else chat_format.ids(messages)
    assert qwen3_5_tokenizer.decode(ids, skip_special_tokens=False) == case["writes"]


@pytest.mark.parametrize("roles", [[], ["system"], ["system", "assistant"]])
def test_an_answer_without_a_question_is_rejected_with_the_templates_reason(qwen3_5_tokenizer, roles):
    with pytest.raises(ValueError, match=r"rejects the turns .*: No user query found in messages"):
        Format(qwen3_5_tokenizer).open_turn([Message(role, "x") for role in roles], "assistant")


def test_a_late_system_message_is_refused_with_the_templates_reason(qwen3_5_tokenizer):
    with pytest.raises(ValueError, match=r"\[user, system, user\]: System message must be at the beginning"):
        Format(qwen3_5_tokenizer).open_turn([Message("user", "x"), Message("system", "y")], "user")


def test_an_answer_also_stops_at_the_second_end_of_sequence(qwen3_5_tokenizer):
    closer, end = qwen3_5_tokenizer.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>"])
    assert Format(qwen3_5_tokenizer).stop_ids("user") == {closer}
    assert Format(qwen3_5_tokenizer).stop_ids("assistant") == {closer, end}


def test_thinking_is_off_where_the_template_would_think(make_tokenizer, qwen3_5_template):
    thinking = qwen3_5_template.replace("is defined and enable_thinking is true", "is not defined or enable_thinking")
    assert thinking != qwen3_5_template
    tokenizer = make_tokenizer(thinking)
    ids = Format(tokenizer).open_turn([Message("user", "hi")], "assistant")
    assert tokenizer.decode(ids).endswith("assistant\n<think>\n\n</think>\n\n")


HELLO = [Message("user", "hi"), Message("assistant", "yo")]


@pytest.mark.parametrize("thinking", [False, True])
def test_a_user_turn_follows_an_answer_without_a_think_block(qwen3_5_tokenizer, thinking):
    ids = Format(qwen3_5_tokenizer, thinking=thinking).open_turn(HELLO, "user")
    expected = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nyo<|im_end|>\n<|im_start|>user\n"
    assert qwen3_5_tokenizer.decode(ids) == expected


def test_the_header_of_a_user_turn_keeps_its_newline(qwen3_5_tokenizer):
    ids = Format(qwen3_5_tokenizer).open_turn(HELLO, "user")
    naive = qwen3_5_tokenizer.apply_chat_template(
        [*({"role": m.role, "content": m.text} for m in HELLO), {"role": "user", "content": ""}],
        tokenize=False,
        continue_final_message=True,
    )
    assert naive.endswith("<|im_start|>user"), "the trap is not there"
    assert qwen3_5_tokenizer.decode(ids).endswith("<|im_end|>\n<|im_start|>user\n")


@pytest.fixture(scope="session")
def thinking(qwen3_5_tokenizer):
    return Format(qwen3_5_tokenizer, thinking=True)


@pytest.mark.parametrize(
    ("generated", "expected"),
    [
        ("He keeps 7.\n</think>\n\nSeven.<|im_end|>", ("Seven.", "He keeps 7.", "stop")),
        ("He keeps 7.\n</think>\n\nSev", ("Sev", "He keeps 7.", "length")),
        ("\n</think>\n\nSeven.<|im_end|>", ("Seven.", None, "stop")),
        ("</think>\n\n Seven. \n<|im_end|>", (" Seven. \n", None, "stop")),
        ("a</think>b </think> c<|im_end|>", ("b </think> c", "a", "stop")),
        ("<think>\nagain</think>b<|im_end|>", ("b", "again", "stop")),
        ("He keeps 12 less", ("", "He keeps 12 less", "length")),
        ("He keeps 7.<|im_end|>", ("", "He keeps 7.", "length")),
        ("", ("", None, "length")),
    ],
)
def test_reasoning_ends_at_its_mark_or_the_turn_counts_as_truncated(qwen3_5_tokenizer, thinking, generated, expected):
    assert thinking.clean(qwen3_5_tokenizer.encode(generated), "assistant") == expected


def test_a_mark_spelled_in_ordinary_tokens_does_not_end_the_reasoning(qwen3_5_tokenizer, thinking):
    message = Message("assistant", "The tag </think> closes it.", reasoning="Does </think> close it?")
    ids = thinking.ids([Message("user", "hi"), message])
    opened = thinking.open_turn([Message("user", "hi")], "assistant")
    assert thinking.clean(ids[len(opened) :], "assistant") == (message.text, message.reasoning, "stop")


def test_a_user_does_not_reason(qwen3_5_tokenizer, thinking):
    generated = qwen3_5_tokenizer.encode("I think.</think>Why?<|im_end|>")
    assert thinking.clean(generated, "user") == ("I think.</think>Why?", None, "stop")


def test_with_thinking_off_reasoning_is_neither_rendered_nor_parsed(qwen3_5_tokenizer):
    plain = Format(qwen3_5_tokenizer)
    reasoned = [HELLO[0], Message("assistant", "yo", reasoning="hm")]
    assert plain.ids(reasoned) == plain.ids(HELLO)
    generated = qwen3_5_tokenizer.encode("a</think>b<|im_end|>")
    assert plain.clean(generated, "assistant") == ("a</think>b", None, "stop")


def test_reasoning_of_the_final_answer_is_trained(qwen3_5_tokenizer, thinking):
    messages = [HELLO[0], Message("assistant", "yo", reasoning="hm.")]
    _, labels = thinking.example(messages, "assistant")
    trained = qwen3_5_tokenizer.decode([label for label in labels if label != -100])
    assert trained == "hm.\n</think>\n\nyo<|im_end|>"
    _, labels = thinking.example([*messages, Message("user", "ok")], "both")
    assert qwen3_5_tokenizer.decode([label for label in labels if label != -100]) == "yo<|im_end|>ok<|im_end|>"


@pytest.mark.parametrize("thinking", [False, True])
@pytest.mark.parametrize("template", ["qwen3_5", "smollm2"])
def test_a_tokenizer_without_the_marks_is_of_another_family(
    make_tokenizer, qwen3_5_template, smollm2_tokenizer, template, thinking
):
    """SmolLM2 has every other token of this family, and its template passes every other check."""
    chosen = qwen3_5_template if template == "qwen3_5" else smollm2_tokenizer.chat_template
    tokenizer = make_tokenizer(chosen, "chatml-without-marks")
    with pytest.raises(ValueError, match="has no control token <think>, so its family is not qwen3_5"):
        Format(tokenizer, thinking=thinking)
