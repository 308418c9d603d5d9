"""Exact strings, listed in `smollm2.json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.dialogue import Message
from eval.formats.smollm2 import Format

CASES = json.loads(Path(__file__).with_suffix(".json").with_stem("smollm2").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['case']}-{case['history']}")
def test_exact_string(smollm2_tokenizer, case):
    chat_format = Format(smollm2_tokenizer, history=case["history"])
    messages = [Message(role, text) for role, text in case["messages"]]
    ids = chat_format.open_turn(messages, case["opens"]) if case["opens"] else chat_format.ids(messages)
    assert smollm2_tokenizer.decode(ids, skip_special_tokens=False) == case["writes"]


def test_a_turn_of_either_role_stops_at_its_closer(smollm2_tokenizer):
    closer = smollm2_tokenizer.convert_tokens_to_ids("<|im_end|>")
    chat_format = Format(smollm2_tokenizer)
    assert chat_format.stop_ids("user") == chat_format.stop_ids("assistant") == {closer}
