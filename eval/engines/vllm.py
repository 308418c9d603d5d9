"""Engine on vLLM in this process, with vLLM's own batching. For several model copies, use `--shard` and `eval.merge`.

Greedy results can depend on the batch composition where two logits are equal to within rounding. Adapters are not
supported: vLLM has silently ignored some (vllm-project/vllm#48019). Probe merged weights, as `train` writes them.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from eval.config import ConfigError
from eval.dialogue import Failure
from eval.engine import Completion, Prompt, Sampling, refusal
from eval.serving.vllm_arguments import engine_arguments
from eval.serving.vllm_sampling import completion_of, sampling_fields
from eval.serving.vllm_version import CPU, installed_vllm
from eval.weights import model_folder, model_limits

if TYPE_CHECKING:
    from vllm.v1.engine.llm_engine import LLMEngine

ENVIRONMENT = {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_STREAM": "ext://sys.stderr", "VLLM_LOGGING_LEVEL": "WARNING"}
"""Defaults for vLLM's environment variables; logs must not go to standard output, which has the result tables."""
ROWS_AHEAD = 512
"""Maximum prompts queued in vLLM, so that its scheduler always has one to add to a batch."""
Completions = tuple[str, list[Completion] | Failure]
"""The key of a prompt with its completions, or with the reason why there are none."""


class Engine:
    """Completes token ids with vLLM."""

    def __init__(
        self,
        folder: str | Path,
        *,
        dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto",
        prefix_caching: bool = True,
        vllm: dict[str, Any] | None = None,
    ) -> None:
        """Reads only the configuration; vLLM is started on the first prompt.

        Args:
            folder: model folder or Hub id.
            dtype: "auto" is float32 on a CPU and bfloat16 on a GPU.
            prefix_caching: whether to cache prefixes that prompts share, as the `n` completions of one prompt do;
                hybrid models such as Qwen3.5 gain little.
            vllm: further arguments, by their names in vLLM's `EngineArgs`, such as `tensor_parallel_size`.

        Raises:
            ConfigError: vLLM is missing or unsupported, the folder is incomplete, or a setting is not valid.
        """
        name, _ = installed_vllm()
        self.folder = model_folder(folder)
        self.dtype: str = ("float32" if name == CPU else "bfloat16") if dtype == "auto" else dtype
        longest, self.vocabulary = model_limits(self.folder)
        self._arguments = engine_arguments(self.folder, self.dtype, longest, prefix_caching, vllm or {})
        self.max_context: int = self._arguments["max_model_len"]

    def generate(
        self, prompts: Iterable[Prompt], sampling: Sampling, stop_ids: frozenset[int]
    ) -> Iterator[tuple[str, Completion | Failure]]:
        """Complete every prompt; yields (key, result) as each finishes."""
        for key, result in self.generate_n(prompts, sampling, stop_ids, 1):
            yield key, result if isinstance(result, Failure) else result[0]

    def generate_n(
        self, prompts: Iterable[Prompt], sampling: Sampling, stop_ids: frozenset[int], n: int, log_probs: bool = False
    ) -> Iterator[Completions]:
        """`n` completions per prompt, optionally with the log-probs of their ids."""
        waiting, in_flight = iter(prompts), set[str]()
        try:
            while True:
                for prompt in waiting:
                    problem = refusal(prompt, sampling, self.max_context, self.vocabulary)
                    if problem:
                        yield prompt.key, problem
                        continue
                    self._add(prompt, sampling, stop_ids, n, log_probs)
                    in_flight.add(prompt.key)
                    if len(in_flight) >= ROWS_AHEAD:
                        break
                if not in_flight:
                    return
                for output in self.core.step():
                    if output.finished:
                        in_flight.remove(output.request_id)
                        yield output.request_id, _completions(output, sampling, stop_ids, log_probs)
        finally:
            if in_flight:  # the caller stopped early: the next call must not receive these results
                self.core.abort_request(list(in_flight))

    @cached_property
    def core(self) -> LLMEngine:
        """vLLM's engine with loaded weights.

        Raises:
            ConfigError: vLLM does not start.
        """
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        from vllm import LLM

        try:
            llm = LLM(**self._arguments, skip_tokenizer_init=True)
        except (TypeError, ValueError, RuntimeError, OSError) as error:
            raise ConfigError(f"vLLM does not start with {self.folder}: {type(error).__name__}: {error}") from error
        weakref.finalize(self, llm.llm_engine.engine_core.shutdown)
        return llm.llm_engine

    def _add(self, prompt: Prompt, sampling: Sampling, stop_ids: frozenset[int], n: int, log_probs: bool) -> None:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        parameters = SamplingParams(
            **sampling_fields(sampling, stop_ids, prompt.seed, n),
            detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
            logprobs=0 if log_probs else None,
        )
        self.core.add_request(prompt.key, {"prompt_token_ids": list(prompt.ids)}, parameters)


def _completions(
    output: Any, sampling: Sampling, stop_ids: frozenset[int], log_probs: bool
) -> list[Completion] | Failure:
    completions = []
    for choice in sorted(output.outputs, key=lambda choice: choice.index):
        ids, values = list(choice.token_ids), None
        if log_probs:
            values = tuple(place[id].logprob for place, id in zip(choice.logprobs, ids, strict=True))
        completion = completion_of(ids, choice.finish_reason, values, sampling, stop_ids)
        if isinstance(completion, Failure):
            return completion
        completions.append(completion)
    return completions
