"""Text as a tokenizer's ordinary tokens: whatever a text holds, no control token comes out of it.

Tokenizers recognise their added tokens (turn markers, think tags, special or not) inside any text they are given. The
encoder here is the same tokenizer without them, so that such a string in a text becomes its letters, and decoding
gives the text back. This file knows no chat format; `chat_format.py` beside it calls it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

REPLACEMENT = "\ufffd"
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class PlainText:
    """Encode texts with the tokenizer's model alone.

    Raises:
        ValueError: the tokenizer is not one of the `tokenizers` library ("fast").
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        from tokenizers import Tokenizer

        backend = getattr(tokenizer, "backend_tokenizer", None)
        if not isinstance(backend, Tokenizer):
            raise ValueError(
                f"{tokenizer.name_or_path or type(tokenizer).__name__} is not a fast tokenizer; "
                "use a model folder that has a tokenizer.json"
            )
        self._control = frozenset(tokenizer.added_tokens_decoder)
        self._encoder = Tokenizer(backend.model)
        if backend.normalizer is not None:
            self._encoder.normalizer = backend.normalizer
        if backend.pre_tokenizer is not None:
            self._encoder.pre_tokenizer = backend.pre_tokenizer

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, none of them of an added token.

        A character that would become the tokenizer's unknown token, when that is an added token (the end of text in
        some), is written as U+FFFD, and so is half a surrogate pair. A tokenizer without an unknown token leaves out
        the bytes that its vocabulary lacks, as it always does.

        Raises:
            ValueError: the vocabulary cannot write U+FFFD either.
        """
        text = LONE_SURROGATE.sub(REPLACEMENT, text)
        ids = self._encode(text)
        if not self._control.isdisjoint(ids):
            text = "".join(c if self._control.isdisjoint(self._encode(c)) else REPLACEMENT for c in text)
            ids = self._encode(text)
        if not self._control.isdisjoint(ids):
            raise ValueError(f"the tokenizer's ordinary tokens cannot write the text {text[:80]!r}")
        return ids

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._encoder.encode(text, add_special_tokens=False).ids
        return ids
