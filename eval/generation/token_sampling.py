"""Samples token ids from logits: temperature, top-k and nucleus, with one uniform number per row and token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.engine import Sampling

if TYPE_CHECKING:
    from torch import Tensor


def choose(logits: Tensor, sampling: Sampling, uniforms: Sequence[float]) -> list[int | None]:
    """The next token of each row of `logits` (rows, vocabulary); None for a row whose logits are not finite.

    Inverse-CDF sampling: a row's token depends only on its logits and its own uniform number in [0, 1), not on the rest
    of the batch. Greedy decoding (temperature 0) uses no number. Tokens masked with -inf are allowed; NaN, +inf and a
    row of only -inf are not.
    """
    largest, likeliest = logits.max(dim=-1)
    tokens = likeliest if sampling.temperature == 0 else sample(logits, sampling, uniforms)
    sound = largest.isfinite()
    return [token if ok else None for token, ok in zip(tokens.tolist(), sound.tolist(), strict=True)]


def sample(logits: Tensor, sampling: Sampling, uniforms: Sequence[float]) -> Tensor:
    """Token ids (rows,) drawn from the filtered distribution: temperature first, then top-k, then nucleus.

    The mass is accumulated in vocabulary order, not by likelihood: two tokens whose logits differ by less than rounding
    could swap places depending on the batch, and would change the sample.
    """
    import torch

    scaled = logits.float() / sampling.temperature
    if 0 < sampling.top_k < scaled.shape[-1]:
        least = scaled.topk(sampling.top_k, dim=-1).values[:, -1:]
        scaled = scaled.masked_fill(scaled < least, float("-inf"))
    shares = scaled.softmax(dim=-1).nan_to_num(0.0).double()
    if sampling.top_p < 1:
        shares = torch.where(shares < _least_of_nucleus(shares, sampling.top_p), 0.0, shares)
    mass = shares.cumsum(dim=-1)
    total = mass[:, -1:].contiguous()
    drawn = torch.tensor(uniforms, dtype=torch.float64, device=mass.device)[:, None] * total
    last = torch.searchsorted(mass, total)
    return torch.minimum(torch.searchsorted(mass, drawn, right=True), last).squeeze(-1)


def _least_of_nucleus(shares: Tensor, top_p: float) -> Tensor:
    """The probability (rows, 1) of the token at which the mass of the likeliest tokens reaches `top_p`."""
    wanted = top_p * shares.sum(dim=-1, keepdim=True)
    # Sorting the whole vocabulary takes as long as a step of a small model; the nucleus is rarely larger than this.
    for count in (min(1024, shares.shape[-1]), shares.shape[-1]):
        ranked = shares.topk(count, dim=-1).values
        mass = ranked.cumsum(dim=-1)
        if (mass[:, -1:] >= wanted).all():
            break
    last = (mass < wanted).sum(dim=-1, keepdim=True)
    return ranked.gather(-1, last.clamp(max=shares.shape[-1] - 1))
