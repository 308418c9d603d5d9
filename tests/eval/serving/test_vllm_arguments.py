"""Reserved arguments are fixed and the rest is passed through by vLLM's names, in process and as flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.serving.vllm_arguments import RESERVED, as_flags, engine_arguments

FOLDER = Path("models/m")


def test_configured_arguments_are_added_to_the_fixed_ones() -> None:
    made = engine_arguments(FOLDER, "float32", 512, False, {"enforce_eager": "true", "tensor_parallel_size": "8"})
    assert made == {
        "model": "models/m",
        "dtype": "float32",
        "max_model_len": 512,
        "enable_prefix_caching": False,
        "generation_config": "vllm",
        "enable_sleep_mode": False,
        "seed": 0,
        "enforce_eager": True,
        "tensor_parallel_size": 8,
    }


@pytest.mark.parametrize("name", RESERVED)
def test_reserved_arguments_are_rejected_with_a_reason(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"engine\.vllm\.{name} can't be set: \w+"):
        engine_arguments(FOLDER, "float32", 512, True, {name: 1})


@pytest.mark.parametrize("room", ["8k", -1, "auto", None, True])
def test_an_invalid_context_length_is_rejected(room: object) -> None:
    with pytest.raises(ConfigError, match=r"engine\.vllm\.max_model_len is .* it must be a number of tokens"):
        engine_arguments(FOLDER, "float32", 512, True, {"max_model_len": room})
    for given, expected in (({"max_model_len": "256"}, 256), ({}, 512)):
        assert engine_arguments(FOLDER, "float32", 512, True, given)["max_model_len"] == expected


def test_flags_match_the_arguments() -> None:
    made = {"model": "m", "enforce_eager": True, "enable_x": False, "seed": 3, "load": "auto", "overrides": {"a": [1]}}
    assert list(as_flags(made)) == [
        *("--enforce-eager", "--no-enable-x"),
        *("--seed", "3", "--load", "auto", "--overrides", '{"a": [1]}'),
    ]
