"""Forward pass on a batch whose rows end at the same position, padded on the left or after a shared prefix."""

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

    Row i has `lengths[i]` tokens including the new ones, and `total` positions including padding. The padding is on the
    left, or after the first `prefix` tokens, which must already be in the cache.
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
