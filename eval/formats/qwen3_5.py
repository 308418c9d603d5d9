"""Qwen3.5: ChatML, texts trimmed, a think block only in the final assistant turn.

A user turn follows `<|im_start|>assistant\\nyo<|im_end|>\\n<|im_start|>user\\n` with history "as_history" (the
default); with "as_last", `<think>\\n\\n</think>\\n\\n` precedes `yo`. An assistant turn is opened with the empty block,
or, with thinking on, with `<think>\\n`: the model then writes its reasoning, `</think>` and the answer. `thinking` is
off by default for all sizes, so that they are comparable; in the shipped templates it is off up to 2B and on from 4B.
The template rejects a conversation without a user turn, and a system message that is not the first.
"""

from __future__ import annotations

from typing import ClassVar

from eval.rendering.thinking_format import ThinkingFormat


class Format(ThinkingFormat):
    """Qwen3.5, all sizes; the template's own default for thinking depends on the size and is not used."""

    name = "qwen3_5"
    # <|endoftext|> is the second eos token in the checkpoints' generation_config.json, which is not applied
    stops: ClassVar = {"user": ("<|im_end|>",), "assistant": ("<|im_end|>", "<|endoftext|>")}
    marks = ("<think>", "</think>")
