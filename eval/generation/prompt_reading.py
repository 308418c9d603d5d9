"""Prefill of prompts into a cache; identical prompts and shared prefixes are computed once.

Rows with the same prompt, such as several user turns of one context, share all of it. Prompts of one chat format share
its opening, which is cached if every layer is plain attention. Either changes logits by no more than rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from eval.generation import model_call
from eval.generation.kv_cache import begin, can_begin, close_up, new_cache, repeat

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Cache, PreTrainedModel

SHORTEST = 16
"""Minimum tokens of a shared opening for it to be read separately."""
SHARE = 8
"""An opening is read separately only if the longest prompt has at most this many times its tokens.

Without an opening, a single long prompt needs no mask, which skips half of its attention.
"""


class PromptReader:
    """Prefills prompts with a model; keeps the cache of the last shared opening."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model
        self._config = model.config.get_text_config()
        self._opening: tuple[int, ...] = ()
        self._read_opening: Cache | None = None

    def read(self, prompts: Sequence[tuple[int, ...]]) -> tuple[Tensor, Cache]:
        """Logits (rows, vocabulary) after each prompt, and the cache of all prompts, padded on the left."""
        distinct = {ids: place for place, ids in enumerate(dict.fromkeys(prompts))}
        logits, cache = self._read(list(distinct))
        if len(distinct) < len(prompts):
            places = [distinct[ids] for ids in prompts]
            repeat(cache, places)
            logits = logits[places]
        return logits, cache

    def _read(self, prompts: Sequence[tuple[int, ...]]) -> tuple[Tensor, Cache]:
        lengths = [len(ids) for ids in prompts]
        longest = max(lengths)
        cache = new_cache(self._config)
        opening = self._opening_of(prompts) if can_begin(cache) else ()
        shared = len(opening) if len(opening) >= max(SHORTEST, longest / SHARE) else 0
        if shared:
            begin(cache, self._cache_of(opening), len(prompts))
        rest = padded([ids[shared:] for ids in prompts])
        logits = model_call.forward(self.model, rest, lengths, longest, cache, shared)
        if shared:
            close_up(cache, shared, [longest - length for length in lengths])
        return logits, cache

    def _opening_of(self, prompts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        """The common prefix, shorter than the shortest prompt; or the cached opening, if it covers most of that."""
        common = common_opening(prompts)[: min(map(len, prompts)) - 1]
        known = common[: len(self._opening)] == self._opening
        if known and (len(prompts) == 1 or 2 * len(self._opening) > len(common)):
            return self._opening
        return common if len(prompts) > 1 else ()

    def _cache_of(self, opening: tuple[int, ...]) -> Cache:
        if self._read_opening is None or opening != self._opening:
            cache = new_cache(self._config)
            model_call.forward(self.model, padded([opening]), [len(opening)], len(opening), cache)
            # Only after the forward pass: one that runs out of memory leaves layers without keys.
            self._opening, self._read_opening = opening, cache
        return self._read_opening


def common_opening(prompts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The longest common prefix of all prompts."""
    first, last = min(prompts), max(prompts)  # in lexicographic order, these two differ earliest
    return tuple(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))


def padded(prompts: Sequence[tuple[int, ...]]) -> Tensor:
    """The ids (rows, longest), padded with zeros on the left."""
    import torch

    longest = max(map(len, prompts))
    return torch.tensor([[0] * (longest - len(ids)) + list(ids) for ids in prompts])
