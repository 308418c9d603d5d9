"""Encodes text as ordinary tokens only: no text can produce a control token.

Tokenizers recognise their added tokens (turn markers, think tags, special or not) inside any text they are given. The
encoder here is the same tokenizer without them, so that such a string is encoded as ordinary characters and decodes
to the same text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

REPLACEMENT = "\ufffd"
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class PlainText:
    """Encodes texts with a tokenizer's model, without its added tokens.

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
        """The ids of `text`, none of which is an added token.

        Characters that would map to the unknown token are replaced by U+FFFD if that token is an added one (in some
        tokenizers it is the end of text), and so are lone surrogates. A tokenizer without an unknown token drops bytes
        that its vocabulary lacks.

        Raises:
            ValueError: the vocabulary cannot encode U+FFFD either.
        """
        text = LONE_SURROGATE.sub(REPLACEMENT, text)
        ids = self._encode(text)
        if not self._control.isdisjoint(ids):
            text = "".join(c if self._control.isdisjoint(self._encode(c)) else REPLACEMENT for c in text)
            ids = self._encode(text)
        if not self._control.isdisjoint(ids):
            raise ValueError(f"the tokenizer's ordinary tokens cannot encode the text {text[:80]!r}")
        return ids

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._encoder.encode(text, add_special_tokens=False).ids
        return ids
