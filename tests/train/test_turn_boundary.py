"""The template tokens between a sampled answer and the user turn, in every chat family."""

from __future__ import annotations

from typing import Any

import pytest

from eval.config import ConfigError
from eval.dialogue import Message
from eval.rendering.chat_format import ChatFormat
from train.turn_boundary import TurnBoundary

ASKED = [Message("user", "Tom has 12 pens and gives 5 of them away.")]
SAID = Message("assistant", "He keeps 7 pens.")


@pytest.fixture
def as_last(voice: Any, request: pytest.FixtureRequest) -> ChatFormat:
    return voice.format_on(request.getfixturevalue(voice.tokenizer), history="as_last")


def test_sampled_answer_and_joint_are_the_rendering_as_last(
    voice: Any, chat_format: ChatFormat, as_last: ChatFormat
) -> None:
    if chat_format.reasons_in(Message("assistant", "Text.", reasoning="Reason.")):
        with pytest.raises(ConfigError, match="switch thinking off"):
            TurnBoundary(chat_format, as_last)
        return
    boundary = TurnBoundary(chat_format, as_last)
    begun, opened = chat_format.open_turn(ASKED, "assistant"), as_last.open_turn([*ASKED, SAID], "user")
    stops = chat_format.stop_ids("assistant")
    rest = opened[len(begun) :]
    stop = next(place for place, token in enumerate(rest) if token in stops)
    sampled = rest[: stop + 1]  # as a model samples it, its stop included
    assert begun + sampled + boundary.after(sampled) == opened
    assert len(boundary.after(sampled)) < boundary.longest
    assert boundary.as_in_history == (opened == chat_format.open_turn([*ASKED, SAID], "user"))


def test_qwen_renders_a_sampled_answer_otherwise_than_history(qwen3_5_tokenizer: Any, smollm2_tokenizer: Any) -> None:
    from eval.formats import qwen3_5, smollm2

    def boundary(family: Any, tokenizer: Any) -> TurnBoundary:
        return TurnBoundary(family.Format(tokenizer), family.Format(tokenizer, history="as_last"))

    assert not boundary(qwen3_5, qwen3_5_tokenizer).as_in_history
    assert boundary(smollm2, smollm2_tokenizer).as_in_history


def test_an_answer_that_was_cut_off_or_ended_otherwise_is_closed(qwen3_5_tokenizer: Any) -> None:
    from eval.formats.qwen3_5 import Format

    chat_format = Format(qwen3_5_tokenizer)
    boundary = TurnBoundary(chat_format, Format(qwen3_5_tokenizer, history="as_last"))
    text = qwen3_5_tokenizer.encode("He keeps")
    closed, other = qwen3_5_tokenizer.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>"])
    header = chat_format.decode(boundary.after([*text, closed]))
    assert header == "\n<|im_start|>user\n"
    assert chat_format.decode(boundary.after(text)) == "<|im_end|>" + header
    assert chat_format.decode(boundary.after([*text, other])) == "<|im_end|>" + header
    assert chat_format.decode(boundary.after([])) == "<|im_end|>" + header
