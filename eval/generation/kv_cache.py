"""The KV cache of a running batch: it grows in place, rows can be dropped, and rows of other batches can be added.

Built on transformers' `DynamicCache`. The supported operations depend on the layer types, not on the model name: plain
attention and linear attention can be joined; others, such as sliding windows, can only drop rows.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Cache, PretrainedConfig
    from transformers.cache_utils import DynamicLayer as _Layer
else:
    _Layer = object

ROOM = 64
"""Positions by which a buffer grows when it is full."""


def new_cache(config: PretrainedConfig) -> Cache:
    """An empty cache for a model with `config`."""
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer

    cache = DynamicCache(config=config)
    layers: list[Any] = [growing_layer()() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    cache.layers = layers
    return cache


def can_join(cache: Cache) -> bool:
    """Whether every layer of `cache` can add the rows of another batch and drop leading padding."""
    from transformers.cache_utils import LinearAttentionLayer

    return all(isinstance(layer, Growing) or type(layer) is LinearAttentionLayer for layer in cache.layers)


def join(caches: Sequence[Cache]) -> Cache:
    """The first cache, extended by the rows of the others; all end at the same position, padded on the left."""
    import torch

    first, *others = caches
    for index, layer in enumerate(_layers(first)):
        more = [_layers(cache)[index] for cache in others]
        if isinstance(layer, Growing):
            layer.join(more)
            continue
        # Linear attention has no positions: its states are concatenated.
        for name in ("conv_states", "recurrent_states"):
            states = getattr(layer, name)
            for number, state in states.items():
                if state is not None:
                    states[number] = torch.cat([state, *(getattr(part, name)[number] for part in more)])
    return first


def keep(cache: Cache, rows: Sequence[int], drop: int) -> None:
    """Keep `rows`, in this order, and drop the first `drop` positions, which must be padding in all of them."""
    import torch

    for layer in _layers(cache):
        if isinstance(layer, Growing):
            layer.keep(rows, drop)
        else:
            layer.reorder_cache(torch.tensor(rows))


def repeat(cache: Cache, rows: Sequence[int]) -> None:
    """Make row i a copy of row `rows[i]`; `rows` may be longer than the cache has rows."""
    import torch

    for layer in _layers(cache):
        if isinstance(layer, Growing):
            layer.repeat(rows)
        else:
            layer.reorder_cache(torch.tensor(rows))


def can_begin(cache: Cache) -> bool:
    """Whether `begin` and `close_up` work on an empty `cache`: only with plain attention in every layer."""
    return all(isinstance(layer, Growing) for layer in cache.layers)


def begin(cache: Cache, opening: Cache, rows: int) -> None:
    """Start each of the `rows` of an empty cache with a copy of the single row of `opening`."""
    for layer, read in zip(_layers(cache), _layers(opening), strict=True):
        layer.update(*(states.expand(rows, -1, -1, -1) for states in (read.keys, read.values)))


def close_up(cache: Cache, opening: int, padding: Sequence[int]) -> None:
    """Move the first `opening` positions of each row after the `padding` positions that follow them."""
    import torch

    most = max(padding)
    if not most:
        return
    pads, places = torch.tensor(padding)[:, None], torch.arange(opening + most)[None]
    source = torch.where(places < pads, places + opening, places - pads).where(places < pads + opening, places)
    for layer in _layers(cache):
        for states in (layer.keys, layer.values):
            moved = states[:, :, : opening + most]
            index = source.to(moved.device)[:, None, :, None]
            moved.copy_(moved.gather(2, index.expand_as(moved)))


def _layers(cache: Cache) -> list[Any]:
    return cache.layers


@functools.cache
def growing_layer() -> type:
    """The class of attention layers; created on first use, because importing this file must not import torch."""
    from transformers.cache_utils import DynamicLayer

    class GrowingLayer(Growing, DynamicLayer):
        """A `DynamicLayer` that grows in place."""

    return GrowingLayer


class Growing(_Layer):
    """Keys and values (rows, heads, positions, width) as a window into larger buffers.

    `DynamicLayer` copies its whole content for each new token. Here a token is written in place, a row is dropped by
    moving another one into its slot, and a row is added in a free slot; all is copied only when a buffer is full.
    """

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        self.rows, self.start, self.end = key_states.shape[0], 0, 0
        self.buffers = [
            states.new_empty(*states.shape[:2], 0, states.shape[3]) for states in (key_states, value_states)
        ]
        self._refresh_window()

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        new = key_states.shape[-2]
        if self.end + new > self.buffers[0].shape[-2]:
            self._make_room(self.rows, self.end - self.start, new + ROOM)
        for buffer, states in zip(self.buffers, (key_states, value_states), strict=True):
            buffer[: self.rows, :, self.end : self.end + new] = states
        self.end += new
        return self._refresh_window()

    def keep(self, rows: Sequence[int], drop: int) -> None:
        moved = [(slot, row) for slot, row in enumerate(rows) if slot != row]
        for buffer in self.buffers if moved else []:
            buffer[[slot for slot, _ in moved]] = buffer[[row for _, row in moved]]
        self.rows, self.start = len(rows), self.start + drop
        self._refresh_window()

    def repeat(self, rows: Sequence[int]) -> None:
        self.buffers = [buffer[list(rows)] for buffer in self.buffers]
        self.rows = len(rows)
        self._refresh_window()

    def join(self, others: Sequence[Any]) -> None:
        rows = self.rows + sum(other.rows for other in others)
        length = max(part.end - part.start for part in (self, *others))
        if rows > self.buffers[0].shape[0] or length > self.end:
            self._make_room(rows, length, ROOM)
        for other in others:
            slots = slice(self.rows, self.rows + other.rows)
            for buffer, states in zip(self.buffers, (other.keys, other.values), strict=True):
                buffer[slots, :, self.end - states.shape[-2] : self.end] = states
            self.rows += other.rows
        self.start = min(self.start, self.end - length)
        self._refresh_window()

    def _make_room(self, rows: int, length: int, room: int) -> None:
        """Move the window into new buffers, so that it ends at `length`, followed by `room` free positions."""
        # Zeros, not empty: masked positions still enter the weighted sum of values, and 0 * NaN is NaN.
        seen = self.end - self.start
        for number, old in enumerate(self.buffers):
            fresh = old.new_zeros(rows, old.shape[1], length + room, old.shape[3])
            fresh[: self.rows, :, length - seen : length] = old[: self.rows, :, self.start : self.end]
            self.buffers[number] = fresh
        self.start, self.end = length - seen, length

    def _refresh_window(self) -> tuple[Tensor, Tensor]:
        keys, values = (buffer[: self.rows, :, self.start : self.end] for buffer in self.buffers)
        self.keys, self.values = keys, values
        return keys, values
