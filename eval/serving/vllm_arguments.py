"""How an engine of vLLM is set up, in process or behind a server: what rows must share is ours, the rest is passed on.

A configuration's mapping `vllm` holds fields of vLLM's `EngineArgs` by their own names, such as `enforce_eager: true`
or `tensor_parallel_size: 8`; vLLM itself refuses one that it does not have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from eval.config import ConfigError

OURS = {
    "model": "the field `model` names it",
    "tokenizer": "prompts come as token ids",
    "dtype": "set engine.dtype",
    "enable_prefix_caching": "set engine.prefix_caching",
    "generation_config": "a model's own sampling defaults are never applied",
    "override_generation_config": "every field of the sampling is set by `answers` and `sampling`",
    "enable_sleep_mode": "a model that was asleep may wake up with other weights",
    "host": "a server of ours listens on the loopback alone",
    "port": "a server of ours takes a free one",
    "quantization": "quantized rows would count as those of the whole weights; quantize the model folder itself",
}
"""What `vllm` may not hold, and why."""


def engine_arguments(
    folder: Path, dtype: str, longest: int, prefix_caching: bool, given: Mapping[str, Any]
) -> dict[str, Any]:
    """The `EngineArgs` of a model, by their names.

    Args:
        longest: context that the model can take, in tokens; `max_model_len` unless `given` has one.

    Raises:
        ConfigError: `given` has one that is not for a configuration to set, or a `max_model_len` that can't be.
    """
    for name in given:
        if name in OURS:
            raise ConfigError(f"engine.vllm.{name} can't be set: {OURS[name]}")
    arguments = {
        "model": str(folder),
        "dtype": dtype,
        "max_model_len": longest,
        "enable_prefix_caching": prefix_caching,
        "generation_config": "vllm",
        "enable_sleep_mode": False,
        "seed": 0,
        **{name: _typed(value) for name, value in given.items()},
    }
    room = arguments["max_model_len"]
    if type(room) is not int or room < 1:
        raise ConfigError(f"engine.vllm.max_model_len is {room!r}; it must be a number of tokens, at least 1")
    return arguments


def _typed(value: Any) -> Any:
    """A text as YAML would have it: what comes from a command line is all text."""
    return yaml.safe_load(value) if isinstance(value, str) else value


def as_flags(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The same for the command line of `vllm serve`, but for the model, which stands alone there."""
    for name, value in arguments.items():
        flag = name.replace("_", "-")
        if name == "model":
            continue
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        else:
            yield f"--{flag}"
            yield value if isinstance(value, str) else json.dumps(value)
