"""Sampling parameters for vLLM, in process or as a server, with every field set, and validation of its completions.

The names are those of vLLM's `SamplingParams`, which its completions server also accepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.config import ConfigError
from eval.dialogue import Failure
from eval.engine import Completion, Sampling

SEEDS = 2**63
"""vLLM's seeds are signed 64-bit integers."""


def sampling_fields(sampling: Sampling, stop_ids: frozenset[int], seed: int, n: int = 1) -> dict[str, Any]:
    """The sampling parameters of one prompt; no field is left to a default of the engine or the model.

    Only `stop_ids` end a turn: the model's end-of-sequence token does not end the turns of every role.

    Args:
        n: completions of the prompt.

    Raises:
        ConfigError: `n` > 1 with greedy decoding, which would give identical completions.
    """
    if n > 1 and sampling.temperature == 0:
        raise ConfigError(f"{n} greedy completions of one prompt are identical; set a temperature above 0")
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
    """The completion, if it ends at a stop id or at the token limit.

    Raises:
        ConfigError: it ends elsewhere: the engine ignored the stop ids or the limit, so all rows are affected.
    """
    generated = tuple(ids)
    if finish == "stop" and generated and generated[-1] in stop_ids and not stop_ids.intersection(generated[:-1]):
        return Completion(generated, "stop", log_probs)
    if finish == "length" and len(generated) == sampling.max_tokens and not stop_ids.intersection(generated):
        return Completion(generated, "length", log_probs)
    if finish not in ("stop", "length"):
        return Failure("generate", f"finish_{finish}", f"the engine aborted it after {len(generated)} tokens")
    raise ConfigError(
        f"a turn ends with {finish!r} after {len(generated)} of {sampling.max_tokens} tokens, the last "
        f"{generated[-1:]}, and stop ids are {sorted(stop_ids)}: this server ignores `stop_token_ids` or `max_tokens`; "
        "check that it is vLLM, started with --generation-config vllm"
    )
