"""A call of the model on a batch whose rows end together, padded on the left or behind what they begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Cache, PreTrainedModel


def forward(
    model: PreTrainedModel, ids: Tensor, lengths: Sequence[int], total: int, cache: Cache, prefix: int = 0
) -> Tensor:
    """Logits (rows, vocabulary) after the last of `ids` (rows, new).

    Row i has `lengths[i]` tokens with the new ones; `total` positions with its padding. The padding is on the left, or
    behind the first `prefix` tokens, which the cache then holds already.
    """
    import torch

    ends = torch.tensor(lengths, device=model.device)[:, None]
    places = torch.arange(total, device=model.device)[None] - (total - ends)
    mask = places >= prefix
    mask[:, :prefix] = True
    output = model(
        input_ids=ids.to(model.device),
        attention_mask=mask.long(),
        position_ids=places[:, -ids.shape[1] :].clamp(min=0),
        past_key_values=cache,
        logits_to_keep=1,
    )
    return output.logits[:, -1]
