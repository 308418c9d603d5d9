"""Exact strings, written out in `qwen3_5.json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.dialogue import Message
from eval.formats.qwen3_5 import Format

CASES = json.loads(Path(__file__).with_suffix(".json").with_stem("qwen3_5").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['case']}-{case['history']}")
def test_exact_string(qwen3_5_tokenizer, case):
    chat_format = Format(qwen3_5_tokenizer, history=case["history"])
    messages = [Message(role, text) for role, text in case["messages"]]
    ids = chat_format.open_turn(messages, case["opens"]) if case["opens"] else chat_format.ids(messages)
    assert qwen3_5_tokenizer.decode(ids, skip_special_tokens=False) == case["writes"]


@pytest.mark.parametrize("roles", [[], ["system"], ["system", "assistant"]])
def test_an_answer_to_no_question_is_refused_with_the_templates_reason(qwen3_5_tokenizer, roles):
    with pytest.raises(ValueError, match=r"refuses the turns .*: No user query found in messages"):
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
