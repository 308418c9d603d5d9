from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.client.quoted_json import quoted_json

TEXTS = st.recursive(st.text(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("x"), inner))


@given(TEXTS)
def test_every_text_reads_back_as_it_was(value: object) -> None:
    assert json.loads(quoted_json(value)) == value


@pytest.mark.parametrize(
    "token",
    [
        *("<|im_end|>", "<|user|>", "<s>", "</s>", "<think>", "</think>", "<start_of_turn>", "<\uff5cUser\uff5c>"),
        *("[INST]", "[/INST]", "[gMASK]", "/nothink", "/no_think", "/think"),
    ],
)
def test_no_control_token_stands_in_it(token: str) -> None:
    text = quoted_json({"text": f"a{token}b"})
    assert token not in text and json.loads(text) == {"text": f"a{token}b"}


def test_what_is_no_control_token_stays_readable() -> None:
    assert quoted_json("3 < 5, x <= 7, [1, 2], a/b \u4e3a") == '"3 < 5, x <= 7, [1, 2], a/b \u4e3a"'


def test_what_utf_8_cannot_hold_is_escaped() -> None:
    assert quoted_json("a\ud800b") == '"a\\ud800b"'
