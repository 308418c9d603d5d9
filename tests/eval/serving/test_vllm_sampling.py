"""Every sampling field is set, and a completion that does not end at a stop id or the limit is rejected."""

from __future__ import annotations

import pytest

from eval.config import ConfigError
from eval.dialogue import Failure
from eval.engine import Completion, Sampling
from eval.serving.vllm_sampling import completion_of, sampling_fields

STOP = frozenset({2, 7})
GREEDY, SAMPLED = Sampling(max_tokens=4), Sampling(max_tokens=4, temperature=0.7, top_p=0.9, top_k=20)


def test_sampling_is_passed_through_and_other_fields_are_neutral() -> None:
    fields = sampling_fields(SAMPLED, STOP, seed=2**64 - 1, n=3)
    assert {name: fields[name] for name in ("temperature", "top_p", "top_k", "max_tokens", "n")} == {
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 20,
        "max_tokens": 4,
        "n": 3,
    }
    assert fields["stop_token_ids"] == [2, 7] and fields["ignore_eos"] and not fields["skip_special_tokens"]
    assert (fields["min_p"], fields["min_tokens"], fields["repetition_penalty"]) == (0.0, 0, 1.0)
    assert fields["seed"] == 2**63 - 1


def test_several_greedy_completions_are_refused() -> None:
    assert sampling_fields(GREEDY, STOP, 0)["n"] == 1
    with pytest.raises(ConfigError, match=r"2 greedy completions of one prompt are identical"):
        sampling_fields(GREEDY, STOP, 0, 2)


@pytest.mark.parametrize(
    ("ids", "finish", "made"),
    [
        ([5, 2], "stop", Completion((5, 2), "stop")),
        ([7], "stop", Completion((7,), "stop")),
        ([5, 5, 5, 2], "stop", Completion((5, 5, 5, 2), "stop")),
        ([5, 5, 5, 5], "length", Completion((5, 5, 5, 5), "length")),
        ([5], "abort", Failure("generate", "finish_abort", "the engine aborted it after 1 tokens")),
        ([], None, Failure("generate", "finish_None", "the engine aborted it after 0 tokens")),
    ],
)
def test_a_completion_that_ends_as_requested_is_accepted(
    ids: list[int], finish: str, made: Completion | Failure
) -> None:
    assert completion_of(ids, finish, None, GREEDY, STOP) == made


@pytest.mark.parametrize(
    ("ids", "finish"),
    [
        ([5], "stop"),
        ([], "stop"),
        ([2, 5, 7], "stop"),
        ([5, 5], "length"),
        ([5, 5, 5, 2], "length"),
        ([5] * 5, "length"),
    ],
)
def test_a_completion_that_ends_elsewhere_stops_the_run(ids: list[int], finish: str) -> None:
    with pytest.raises(ConfigError, match=r"ignores `stop_token_ids` or `max_tokens`"):
        completion_of(ids, finish, None, GREEDY, STOP)
