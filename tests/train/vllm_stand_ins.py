"""vLLM's side of TRL's two ways to it, computed by transformers: an engine in this process, and a real HTTP server.

TRL's own `VLLMGeneration` and `VLLMClient` talk to them. In place of NCCL, through which weights go to the server,
there is a queue. `tests/eval/engines/test_vllm.py` holds the names that TRL reaches for against vLLM itself.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Any

Takes = Callable[[str], bool]
"""Whether weights of a name are taken over; others are dropped without a word."""
FROM_SERVER: dict[str, Any] = {
    "/health": {},
    "/v1/models": {"data": [{"id": "tiny"}]},
    "/server_info": {
        "vllm_config": {
            "model_config": {"dtype": "torch.float32", "logprobs_mode": "processed_logprobs"},
            "weight_transfer_config": {"backend": "nccl"},
        }
    },
    "/get_world_size": {"world_size": 1},
}
DONE = ("/start_weight_update", "/finish_weight_update", "/reset_prefix_cache")


@dataclass(frozen=True)
class SamplingParams:
    """Those of vLLM's that TRL and this project set."""

    n: int = 1
    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    max_tokens: int | None = 16
    logprobs: int | None = None
    stop_token_ids: list[int] | None = None
    ignore_eos: bool = False
    skip_special_tokens: bool = True


class Served:
    """The weights of a folder, and what is handed over to them."""

    def __init__(self, folder: str | Path, takes: Takes) -> None:
        import torch
        from transformers import AutoModelForCausalLM

        self.model: Any = AutoModelForCausalLM.from_pretrained(folder).eval()
        self.takes = takes
        self._random = torch.Generator().manual_seed(0)

    def load_weights(self, weights: Iterable[tuple[str, Any]]) -> None:
        own = dict(self.model.named_parameters())
        for name, given in weights:
            assert own[name].shape == given.shape and own[name].dtype == given.dtype, name
            if self.takes(name):
                own[name].data.copy_(given)

    def go_on(self, ids: list[int], sampling: SamplingParams) -> tuple[list[int], list[float]]:
        """Ids and their log-probs as sampled ("processed_logprobs"); greedy ones are at temperature 1."""
        import torch

        said: list[int] = []
        values: list[float] = []
        while len(said) < (sampling.max_tokens or 0) and not {*said[-1:]}.intersection(sampling.stop_token_ids or []):
            with torch.no_grad():
                logits = self.model(torch.tensor([[*ids, *said]])).logits[0, -1].float()
            row = torch.log_softmax(logits / (sampling.temperature or 1.0), dim=-1)
            greedy = sampling.temperature == 0
            said.append(int(row.argmax() if greedy else torch.multinomial(row.exp(), 1, generator=self._random)))
            values.append(float(row[said[-1]]))
        return said, values


class LLM:
    """As far as TRL reaches into `vllm.LLM`."""

    def __init__(self, takes: Takes, model: str, **settings: Any) -> None:
        self.settings = settings
        self._served = Served(model, takes)
        runner = SimpleNamespace(model=self._served)
        self.llm_engine = SimpleNamespace(
            model_executor=SimpleNamespace(driver_worker=SimpleNamespace(model_runner=runner)),
            model_config=SimpleNamespace(dtype="torch.float32", max_model_len=512),
        )

    def generate(self, prompts: Any, sampling_params: Any = None, *, use_tqdm: bool = True) -> list[Any]:
        outputs = []
        for prompt in prompts:
            said, values = self._served.go_on(prompt["prompt_token_ids"], sampling_params)
            places = [{id: SimpleNamespace(logprob=value, rank=1)} for id, value in zip(said, values, strict=True)]
            outputs.append(
                SimpleNamespace(
                    prompt_token_ids=prompt["prompt_token_ids"],
                    outputs=[SimpleNamespace(token_ids=said, logprobs=places)],
                )
            )
        return outputs

    def reset_prefix_cache(self) -> bool:
        return True


@dataclass
class Server:
    """`vllm serve` as far as TRL's client asks it; a context manager that serves in threads of its own."""

    served: Served
    nccl: Queue[tuple[str, Any]] = field(default_factory=Queue)
    asked: list[str] = field(default_factory=list)
    """The paths of the requests, in order."""

    def __enter__(self) -> Server:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, path: str, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(path)
        if path == "/update_weights":
            self._receive(**request["update_info"])
            return {}
        if path == "/v1/completions":
            return {"choices": [choice for ids in request["prompt"] for choice in self._choices(ids, request)]}
        return {"success": True} if path in DONE else dict(FROM_SERVER[path])

    def _receive(self, names: list[str], dtype_names: list[str], shapes: list[list[int]]) -> None:
        for announced in zip(names, dtype_names, shapes, strict=True):
            name, weights = self.nccl.get(timeout=60)
            assert announced == (name, str(weights.dtype).removeprefix("torch."), list(weights.shape))
            self.served.load_weights([(name, weights)])

    def _choices(self, ids: list[int], request: dict[str, Any]) -> list[dict[str, Any]]:
        beside = ("model", "prompt", "return_token_ids", "return_tokens_as_token_ids")
        sampling = SamplingParams(**{name: value for name, value in request.items() if name not in beside})
        choices = []
        for _ in range(sampling.n):
            said, values = self.served.go_on(ids, sampling)
            marks = [f"token_id:{id}" for id in said]
            top = [{mark: value} for mark, value in zip(marks, values, strict=True)]
            told = {"tokens": marks, "token_logprobs": values, "top_logprobs": top}
            choices.append({"prompt_token_ids": ids, "token_ids": said, "logprobs": told})
        return choices

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        answer = self.answer

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                said = json.dumps(answer(self.path.partition("?")[0], json.loads(body or "{}"))).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            do_POST = do_GET

            def log_message(self, *args: Any) -> None: ...

        return Handler


def stand_in(patch: Any, mode: str, folder: Path, takes: Takes) -> Server | None:
    """Put these in place of vLLM with `patch`, a MonkeyPatch; returns the server, to be entered, in mode "server"."""
    from trl.generation import vllm_client, vllm_generation

    for module in (vllm_client, vllm_generation):
        patch.setattr(module, "is_vllm_available", lambda min_version=None: True)
    if mode == "colocate":
        patch.setattr(vllm_generation, "LLM", lambda **given: LLM(takes, **given), raising=False)
        patch.setattr(vllm_generation, "SamplingParams", SamplingParams, raising=False)
        return None
    server = Server(Served(folder, takes))

    def broadcast(iterator: Any, group: Any, src: int, post_iter_func: Callable[[Any], Any]) -> None:
        for item in iterator:
            group.put((item[0], post_iter_func(item).detach().clone()))

    def init_communicator(self: Any, device: Any = 0) -> None:
        self.communicator = server.nccl

    for name in ("_HAS_STATEFUL_TRAINER_ENGINE", "_HAS_RESET_PREFIX_CACHE_SUCCESS"):
        patch.setattr(vllm_client, name, True)
    patch.setattr(vllm_client, "packed_nccl_broadcast_producer", broadcast, raising=False)
    patch.setattr(vllm_client.VLLMClient, "init_communicator", init_communicator)
    return server
