"""Arguments of a vLLM engine, in process or as a server: settings that affect results are fixed, others passed through.

The mapping `vllm` of a configuration has fields of vLLM's `EngineArgs` by name, such as `enforce_eager: true` or
`tensor_parallel_size: 8`; vLLM itself rejects unknown ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from eval.config import ConfigError

RESERVED = {
    "model": "set the field `model`",
    "tokenizer": "prompts come as token ids",
    "dtype": "set engine.dtype",
    "enable_prefix_caching": "set engine.prefix_caching",
    "generation_config": "a model's own sampling defaults are never applied",
    "override_generation_config": "all sampling fields are set by `answers` and `sampling`",
    "enable_sleep_mode": "a model may wake up from sleep with different weights",
    "host": "the server listens only on the loopback interface",
    "port": "a free port is chosen",
    "quantization": "results would be attributed to the unquantized weights; quantize the model folder itself",
}
"""Arguments that `vllm` must not contain, with the reason."""


def engine_arguments(
    folder: Path, dtype: str, longest: int, prefix_caching: bool, given: Mapping[str, Any]
) -> dict[str, Any]:
    """The `EngineArgs` of a model, by name.

    Args:
        longest: maximum context of the model in tokens; `max_model_len` unless `given` sets it.

    Raises:
        ConfigError: `given` has a reserved argument, or a `max_model_len` that is not valid.
    """
    for name in given:
        if name in RESERVED:
            raise ConfigError(f"engine.vllm.{name} can't be set: {RESERVED[name]}")
    arguments = {
        "model": str(folder),
        "dtype": dtype,
        "max_model_len": longest,
        "enable_prefix_caching": prefix_caching,
        "generation_config": "vllm",
        "enable_sleep_mode": False,
        "seed": 0,
        **{name: _parse_value(value) for name, value in given.items()},
    }
    room = arguments["max_model_len"]
    if type(room) is not int or room < 1:
        raise ConfigError(f"engine.vllm.max_model_len is {room!r}; it must be a number of tokens, at least 1")
    return arguments


def _parse_value(value: Any) -> Any:
    """Strings parsed as YAML, since values from the command line are all strings."""
    return yaml.safe_load(value) if isinstance(value, str) else value


def as_flags(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The arguments as flags of `vllm serve`, without the model, which is a positional argument there."""
    for name, value in arguments.items():
        flag = name.replace("_", "-")
        if name == "model":
            continue
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        else:
            yield f"--{flag}"
            yield value if isinstance(value, str) else json.dumps(value)
