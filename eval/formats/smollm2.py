"""SmolLM2: ChatML, texts verbatim, a default system message if none is given, no thinking."""

from __future__ import annotations

from typing import ClassVar

from eval.rendering.chat_format import ChatFormat


class Format(ChatFormat):
    """SmolLM2-Instruct, all sizes. The tokenizer's eos token is not used: it may be wrong after a GGUF conversion."""

    name = "smollm2"
    stops: ClassVar = {"user": ("<|im_end|>",), "assistant": ("<|im_end|>",)}
