"""Logits to token ids: temperature, top-k and nucleus, with one uniform number of each row's own stream per token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.engine import Sampling

if TYPE_CHECKING:
    from torch import Tensor


def choose(logits: Tensor, sampling: Sampling, uniforms: Sequence[float]) -> list[int | None]:
    """The next token of each row of `logits` (rows, vocabulary); None for a row whose logits are not finite.

    Inverse-CDF sampling: a row's token depends on its logits and its own uniform number in [0, 1), on nothing else of
    the batch. Greedy decoding (temperature 0) uses no number. Tokens masked with -inf are allowed; NaN, +inf and a row
    of -inf are not.
    """
    largest, likeliest = logits.max(dim=-1)
    tokens = likeliest if sampling.temperature == 0 else sample(logits, sampling, uniforms)
    sound = largest.isfinite()
    return [token if ok else None for token, ok in zip(tokens.tolist(), sound.tolist(), strict=True)]


def sample(logits: Tensor, sampling: Sampling, uniforms: Sequence[float]) -> Tensor:
    """Token ids (rows,) drawn from the filtered distribution: temperature first, then top-k, then nucleus."""
    import torch

    scaled = logits.float() / sampling.temperature
    if sampling.top_k and sampling.top_k < scaled.shape[-1]:
        scaled, tokens = scaled.topk(sampling.top_k, dim=-1)
    elif sampling.top_p < 1:
        scaled, tokens = scaled.sort(dim=-1, descending=True, stable=True)
    else:
        tokens = None
    mass = scaled.softmax(dim=-1).nan_to_num(0.0).double().cumsum(dim=-1)
    total = mass[:, -1:]
    if sampling.top_p < 1:
        # The nucleus ends with the first token that brings the mass to top_p.
        last = (mass < sampling.top_p * total).sum(dim=-1, keepdim=True).clamp(max=mass.shape[-1] - 1)
        total = mass.gather(-1, last)
    drawn = torch.tensor(uniforms, dtype=torch.float64, device=mass.device)[:, None] * total
    place = torch.searchsorted(mass, drawn, right=True).clamp(max=mass.shape[-1] - 1)
    return (place if tokens is None else tokens.gather(-1, place)).squeeze(-1)
