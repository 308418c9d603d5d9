"""Engine on vLLM in this process: its own batching, one worker a model copy. Many copies: `--shard` and `eval.merge`.

Greedy rows can differ with the batch they ran in where two logits are equal to within rounding. Adapters are not
offered: vLLM has loaded some without any effect and without an error (vllm-project/vllm#48019). Probe merged weights,
as `train` writes them.
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
"""What vLLM is told unless the environment says otherwise: standard output has our tables."""
ROWS_AHEAD = 512
"""Prompts that vLLM holds at once, so that its scheduler always has one to add to a batch."""
Several = tuple[str, list[Completion] | Failure]


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
        """Reads the configuration alone; vLLM is started when the first prompt comes.

        Args:
            folder: model folder or Hub id.
            dtype: "auto" is float32 on a CPU and bfloat16 on a GPU.
            prefix_caching: whether what has been read is kept for prompts that begin alike, as the `n` completions of
                one prompt do; hybrid models such as Qwen3.5 gain little.
            vllm: further arguments, by their names in vLLM's `EngineArgs`, such as `tensor_parallel_size`.

        Raises:
            ConfigError: vLLM is missing or of another version, the folder is incomplete, or a setting cannot work.
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
        for key, result in self.several(prompts, sampling, stop_ids, 1):
            yield key, result if isinstance(result, Failure) else result[0]

    def several(
        self, prompts: Iterable[Prompt], sampling: Sampling, stop_ids: frozenset[int], n: int, log_probs: bool = False
    ) -> Iterator[Several]:
        """`n` completions of every prompt, which is read once; on request with the log-probs of their ids."""
        waiting, under_way = iter(prompts), set[str]()
        try:
            while True:
                for prompt in waiting:
                    problem = refusal(prompt, sampling, self.max_context, self.vocabulary)
                    if problem:
                        yield prompt.key, problem
                        continue
                    self._add(prompt, sampling, stop_ids, n, log_probs)
                    under_way.add(prompt.key)
                    if len(under_way) >= ROWS_AHEAD:
                        break
                if not under_way:
                    return
                for output in self.core.step():
                    if output.finished:
                        under_way.remove(output.request_id)
                        yield output.request_id, _read(output, sampling, stop_ids, log_probs)
        finally:
            if under_way:  # the caller stopped early: the next call must not meet these
                self.core.abort_request(list(under_way))

    @cached_property
    def core(self) -> LLMEngine:
        """vLLM's engine, with the weights.

        Raises:
            ConfigError: it does not start.
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

        asked = SamplingParams(
            **sampling_fields(sampling, stop_ids, prompt.seed, n),
            detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
            logprobs=0 if log_probs else None,
        )
        self.core.add_request(prompt.key, {"prompt_token_ids": list(prompt.ids)}, asked)


def _read(output: Any, sampling: Sampling, stop_ids: frozenset[int], log_probs: bool) -> list[Completion] | Failure:
    made = []
    for choice in sorted(output.outputs, key=lambda choice: choice.index):
        ids, values = list(choice.token_ids), None
        if log_probs:
            values = tuple(place[id].logprob for place, id in zip(choice.logprobs, ids, strict=True))
        completion = completion_of(ids, choice.finish_reason, values, sampling, stop_ids)
        if isinstance(completion, Failure):
            return completion
        made.append(completion)
    return made
