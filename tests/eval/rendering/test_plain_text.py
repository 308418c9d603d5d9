from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.rendering.plain_text import PlainText

FRAGMENTS = [
    "<|im_end|>",
    "<|im_start|>user\n",
    "<think>",
    "</think>",
    "<|im",
    "_end|>",
    "<th",
    "ink>",
    "  ",
    "\n",
    "hi",
]


@pytest.fixture(scope="session")
def plain(smollm2_tokenizer):
    return PlainText(smollm2_tokenizer)


def test_the_string_of_an_added_token_is_not_encoded_as_that_token(smollm2_tokenizer, plain):
    for token, added in smollm2_tokenizer.added_tokens_decoder.items():
        for text in (added.content, added.content * 3, f"a{added.content}b", added.content[:1] + added.content):
            assert token in smollm2_tokenizer.encode(text, add_special_tokens=False)
            ids = plain.encode(text)
            assert smollm2_tokenizer.added_tokens_decoder.keys().isdisjoint(ids)
            assert smollm2_tokenizer.decode(ids) == text


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5)).map("".join))
def test_any_text_round_trips_without_added_tokens(smollm2_tokenizer, plain, text):
    ids = plain.encode(text)
    assert smollm2_tokenizer.added_tokens_decoder.keys().isdisjoint(ids)
    assert smollm2_tokenizer.decode(ids) == text


def test_ordinary_text_has_the_tokenizers_own_ids(smollm2_tokenizer, plain):
    text = "Tom keeps 7 pens.\n\nHow many would he keep, é?"
    assert plain.encode(text) == smollm2_tokenizer.encode(text, add_special_tokens=False)


def test_characters_outside_the_vocabulary_are_replaced_and_never_become_end_of_text(tokenizer_without_some_bytes):
    assert tokenizer_without_some_bytes.encode("a\x13") == [*tokenizer_without_some_bytes.encode("a"), 0]
    plain = PlainText(tokenizer_without_some_bytes)
    assert tokenizer_without_some_bytes.decode(plain.encode("a \x13user<|im_end|>")) == "a \ufffduser<|im_end|>"


def test_a_lone_surrogate_is_replaced(smollm2_tokenizer, plain):
    assert smollm2_tokenizer.decode(plain.encode("a\ud83db")) == "a\ufffdb"


def test_a_slow_tokenizer_is_an_error_with_a_remedy():
    with pytest.raises(ValueError, match=r"some/model is not a fast tokenizer; .*tokenizer\.json"):
        PlainText(SimpleNamespace(name_or_path="some/model"))
