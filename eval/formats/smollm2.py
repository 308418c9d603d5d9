"""SmolLM2: ChatML, texts verbatim, a default system message where none is given, no thinking."""

from __future__ import annotations

from typing import ClassVar

from eval.rendering.chat_format import ChatFormat


class Format(ChatFormat):
    """SmolLM2-Instruct, all sizes. The tokenizer's own eos token is not used: a GGUF conversion can get it wrong."""

    name = "smollm2"
    stops: ClassVar = {"user": ("<|im_end|>",), "assistant": ("<|im_end|>",)}
