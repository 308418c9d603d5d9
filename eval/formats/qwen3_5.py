"""Qwen3.5: ChatML, texts trimmed, a think block in the last assistant turn alone.

So the text before a user turn is `<|im_start|>assistant\\nyo<|im_end|>\\n<|im_start|>user\\n` as history (the default),
with `<think>\\n\\n</think>\\n\\n` before `yo` as last. An assistant turn is opened with the empty block, or with
thinking on with `<think>\\n`: the model then writes its reasoning, `</think>` and the answer. `thinking` is off unless
told: the shipped templates of 2B and less are, those of 4B and more are not, and sizes are compared, so all are spoken
to alike. The template refuses a conversation without a user turn, and a system message that is not the first.
"""

from __future__ import annotations

from typing import ClassVar

from eval.rendering.thinking_format import ThinkingFormat


class Format(ThinkingFormat):
    """Qwen3.5, all sizes; what its template does where nothing is said about thinking depends on the size."""

    name = "qwen3_5"
    # <|endoftext|> is the second end of sequence in the generation_config.json of the checkpoints, which is not applied
    stops: ClassVar = {"user": ("<|im_end|>",), "assistant": ("<|im_end|>", "<|endoftext|>")}
    marks = ("<think>", "</think>")
