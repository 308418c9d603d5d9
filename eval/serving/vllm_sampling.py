"""How a turn is sampled on vLLM, in process or behind a server: every field set, and what comes back checked.

The names are those of vLLM's `SamplingParams`, which its completions server takes too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.config import ConfigError
from eval.dialogue import Failure
from eval.engine import Completion, Sampling

SEEDS = 2**63
"""Seeds are signed 64-bit integers there."""


def sampling_fields(sampling: Sampling, stop_ids: frozenset[int], seed: int, n: int = 1) -> dict[str, Any]:
    """The sampling of one prompt, nothing left to a default: neither the engine's nor the model's own.

    Only `stop_ids` end a turn: the model's end-of-sequence token is one of many, and not that of every role.

    Args:
        n: completions of the prompt.

    Raises:
        ConfigError: several greedy completions, which would be the same.
    """
    if n > 1 and sampling.temperature == 0:
        raise ConfigError(f"{n} greedy completions of one prompt are one; sample with a temperature")
    return {
        "n": n,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "max_tokens": sampling.max_tokens,
        "min_tokens": 0,
        "seed": seed % SEEDS,
        "stop_token_ids": sorted(stop_ids),
        "ignore_eos": True,
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
    }


def completion_of(
    ids: Sequence[int],
    finish: str | None,
    log_probs: tuple[float, ...] | None,
    sampling: Sampling,
    stop_ids: frozenset[int],
) -> Completion | Failure:
    """What was generated, if it ends as it was asked to.

    Raises:
        ConfigError: it ends otherwise, so that the other rows do too: the stop ids or the limit were not heeded.
    """
    made = tuple(ids)
    if finish == "stop" and made and made[-1] in stop_ids and not stop_ids.intersection(made[:-1]):
        return Completion(made, "stop", log_probs)
    if finish == "length" and len(made) == sampling.max_tokens and not stop_ids.intersection(made):
        return Completion(made, "length", log_probs)
    if finish not in ("stop", "length"):
        return Failure("generate", f"finish_{finish}", f"the engine gave up on it after {len(made)} tokens")
    raise ConfigError(
        f"a turn ends with {finish!r} after {len(made)} of {sampling.max_tokens} tokens, the last {made[-1:]}, and "
        f"stop ids are {sorted(stop_ids)}: this server does not heed `stop_token_ids` or `max_tokens`; is it vLLM, "
        "started with --generation-config vllm?"
    )
