"""What rows must share is set here, the rest is passed on by vLLM's own names, in process and on a command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.serving.vllm_arguments import OURS, as_flags, engine_arguments

FOLDER = Path("models/m")


def test_arguments_of_a_configuration_are_added_to_ours() -> None:
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


@pytest.mark.parametrize("name", OURS)
def test_what_is_ours_is_refused_with_a_reason(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"engine\.vllm\.{name} can't be set: \w+"):
        engine_arguments(FOLDER, "float32", 512, True, {name: 1})


@pytest.mark.parametrize("room", ["8k", -1, "auto", None, True])
def test_a_context_that_is_no_number_of_tokens_is_refused(room: object) -> None:
    with pytest.raises(ConfigError, match=r"engine\.vllm\.max_model_len is .* it must be a number of tokens"):
        engine_arguments(FOLDER, "float32", 512, True, {"max_model_len": room})
    for given, expected in (({"max_model_len": "256"}, 256), ({}, 512)):
        assert engine_arguments(FOLDER, "float32", 512, True, given)["max_model_len"] == expected


def test_flags_say_the_same() -> None:
    made = {"model": "m", "enforce_eager": True, "enable_x": False, "seed": 3, "load": "auto", "overrides": {"a": [1]}}
    assert list(as_flags(made)) == [
        *("--enforce-eager", "--no-enable-x"),
        *("--seed", "3", "--load", "auto", "--overrides", '{"a": [1]}'),
    ]
