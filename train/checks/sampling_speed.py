"""How fast transformers samples from a policy, in batches like those that TRL generates without vLLM."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

ROWS, TOKENS = 16, 16
"""Largest number of rows, and tokens per row, sampled for the measurement: seconds for a small model on a CPU."""


def seconds_per_sampled_token(model: Any, prompts: Sequence[Sequence[int]]) -> float:
    """Seconds per token and row when a turn after each of `prompts` (token ids) is sampled in one batch."""
    import torch

    width = max(map(len, prompts))
    ids = torch.tensor([[0] * (width - len(prompt)) + list(prompt) for prompt in prompts], device=model.device)
    attended = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=model.device)
    model.eval()

    def sample(tokens: int) -> float:
        started = time.monotonic()
        # Makes all rows equally long.
        lengths = {"min_new_tokens": tokens, "max_new_tokens": tokens}
        with torch.no_grad():
            model.generate(input_ids=ids, attention_mask=attended, do_sample=False, pad_token_id=0, **lengths)
        if model.device.type == "cuda":
            torch.cuda.synchronize()
        return time.monotonic() - started

    sample(1)  # the first call compiles kernels
    return sample(TOKENS) / (len(prompts) * TOKENS)
