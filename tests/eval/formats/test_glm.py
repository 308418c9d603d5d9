"""Exact strings, listed in `glm.json`, of GLM-4.5 and, if its template is available, 4.7."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.dialogue import Message
from eval.formats.glm import Format

CASES = json.loads(Path(__file__).with_suffix(".json").with_stem("glm").read_text())
HELLO = [Message("user", "hi"), Message("assistant", "yo")]


def name_of(case: dict) -> str:
    return f"{case['template']}-{case['case']}-{case['history']}-{case['options']}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_exact_string(request, case):
    tokenizer = request.getfixturevalue(case["template"])
    chat_format = Format(tokenizer, history=case["history"], **case["options"])
    messages = [Message(role, text, reasoning="".join(rest) or None) for role, text, *rest in case["messages"]]
    ids = chat_format.open_turn(messages, case["opens"]) if case["opens"] else chat_format.ids(messages)
    assert tokenizer.decode(ids) == case["writes"]


def test_a_user_turn_is_opened_after_an_empty_think_block_and_stops_at_the_next_header(glm_tokenizer):
    chat_format = Format(glm_tokenizer)
    expected = "[gMASK]<sop><|user|>\nhi<|assistant|>\n<think></think>\nyo<|user|>\n"
    assert glm_tokenizer.decode(chat_format.open_turn(HELLO, "user")) == expected
    stops = {glm_tokenizer.convert_ids_to_tokens(token) for token in chat_format.stop_ids("user")}
    assert stops == {"<|assistant|>", "<|user|>", "<|observation|>", "<|endoftext|>"}
    generated = glm_tokenizer.encode("Why?<|assistant|>\n<think></think>\nBecause.")
    assert chat_format.clean(generated, "user") == ("Why?", None, "stop")


def test_4_6_renders_like_4_5(make_tokenizer, glm_tokenizer, data_dir):
    path = data_dir / "chat_templates" / "GLM-4.6.jinja"
    if not path.is_file():
        pytest.skip(f"no {path}; no package ships the template of GLM-4.6")
    tokenizer = make_tokenizer(path.read_text(encoding="utf-8"), "glm")
    for thinking in (False, True):
        older, newer = (Format(one, thinking=thinking) for one in (glm_tokenizer, tokenizer))
        assert older.ids(HELLO) == newer.ids(HELLO)
        for role in ("user", "assistant"):
            assert older.open_turn(HELLO[:1], role) == newer.open_turn(HELLO[:1], role)


@pytest.mark.parametrize(
    ("thinking", "generated", "expected"),
    [
        (True, "\n<think>He keeps 7.</think>\nSeven.<|user|>", ("Seven.", "He keeps 7.", "stop")),
        (True, "\n<think></think>\nSeven.<|user|>", ("Seven.", None, "stop")),
        (True, "\nSeven.<|user|>", ("Seven.", None, "stop")),
        (True, "\n<think>He keeps 12 less", ("", "He keeps 12 less", "length")),
        (True, "\n<think>He keeps 7.<|user|>", ("", "He keeps 7.", "length")),
        (False, "\nSeven.<|user|>", ("Seven.", None, "stop")),
        (False, "\nSeven.", ("Seven.", None, "length")),
        (False, "Seven.<|endoftext|>", ("Seven.", None, "stop")),
    ],
)
def test_an_answer_of_4_5(glm_tokenizer, thinking, generated, expected):
    assert Format(glm_tokenizer, thinking=thinking).clean(glm_tokenizer.encode(generated), "assistant") == expected


@pytest.mark.parametrize(
    ("thinking", "generated", "expected"),
    [
        (True, "He keeps 7.</think>Seven.<|user|>", ("Seven.", "He keeps 7.", "stop")),
        (True, "He keeps 12 less", ("", "He keeps 12 less", "length")),
        (False, "Seven.<|user|>", ("Seven.", None, "stop")),
    ],
)
def test_an_answer_of_4_7(glm_4_7_tokenizer, thinking, generated, expected):
    chat_format = Format(glm_4_7_tokenizer, thinking=thinking)
    assert chat_format.clean(glm_4_7_tokenizer.encode(generated), "assistant") == expected


def test_the_nothink_switch_is_neither_text_nor_trained(glm_tokenizer):
    off, on = Format(glm_tokenizer, thinking=False), Format(glm_tokenizer, thinking=True)
    generated = glm_tokenizer.encode("Why?/nothink<|assistant|>")
    assert off.clean(generated, "user") == ("Why?", None, "stop")
    assert on.clean(generated, "user") == ("Why?/nothink", None, "stop")
    ids, labels = off.example([*HELLO, Message("user", "Why?")], "user")
    assert glm_tokenizer.decode(ids).endswith("<|user|>\nWhy?/nothink<|assistant|>")
    assert glm_tokenizer.decode([label for label in labels if label != -100]) == "Why?<|assistant|>"


def test_the_end_of_a_final_turn_is_trained(glm_tokenizer):
    chat_format = Format(glm_tokenizer)
    _, labels = chat_format.example([HELLO[0], Message("assistant", "yo", reasoning="hm")], "assistant")
    trained = glm_tokenizer.decode([label for label in labels if label != -100])
    assert trained == "\n<think>hm</think>\nyo<|user|>"


def test_text_that_the_template_of_4_7_never_writes_belongs_to_the_user(glm_4_7_tokenizer):
    chat_format = Format(glm_4_7_tokenizer, thinking=False)
    generated = glm_4_7_tokenizer.encode("Why?/nothink<|assistant|>")
    assert chat_format.clean(generated, "user") == ("Why?/nothink", None, "stop")
