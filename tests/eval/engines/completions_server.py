"""A real HTTP completions server with token ids on the engine `transformers`, which injects faults on a schedule.

    python tests/eval/engines/completions_server.py serve MODEL --port 8000 [flags of vLLM]

Started like `vllm serve`, it takes its flags; the environment variable USERTURN_TEST_SERVER says how it misbehaves:
"silent" never answers, "dies:N" ends after N requests, "old" has another version.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eval.engine import Completion, Prompt, Sampling
from eval.engines.transformers import Engine

JUDGE = Path(__file__).parent.parent / "client" / "judge_server.py"
JudgeServer = runpy.run_path(str(JUDGE))["JudgeServer"]


class CompletionsServer(JudgeServer):
    """Completes with `engine`, one request at a time; `spoil` overrides fields of every choice of a valid response."""

    def __init__(self, engine: Engine, schedule: Iterable[str] = (), *, port: int = 0, **options: Any) -> None:
        """Set up the server."""
        self.spoil: dict[str, Any] = options.pop("spoil", {})
        self.version = options.pop("version", "0.31.0")
        self.models: list[dict[str, Any]] = [{"id": "tiny", "max_model_len": engine.max_context}]
        super().__init__(schedule, port=port, **options)
        self.engine = engine
        self.paths = {"/v1/completions": "/v1/chat/completions"}

    def batch_api(self, method: str, path: str, content: bytes) -> tuple[int, dict[str, str], bytes]:
        """Whatever is not a completion: the models, health and version."""
        answers = {"models": {"data": self.models}, "/health": {}, "/version": {"version": self.version}}
        return (200, {}, json.dumps(answers[path]).encode()) if path in answers else (404, {}, b"{}")

    def _made(self, ids: tuple[int, ...], seed: int, sampling: Sampling, *stop_ids: int) -> Completion:
        [(_, made)] = self.engine.generate([Prompt("0", ids, seed)], sampling, frozenset(stop_ids))
        assert isinstance(made, Completion)
        return made

    def completion(self, request: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
        choices = [self._choice(request, index) for index in range(request["n"])]
        return {"object": "text_completion", "model": request["model"], "choices": choices, "usage": None}

    def _choice(self, request: dict[str, Any], index: int) -> dict[str, Any]:
        fields = {name: request[name] for name in ("temperature", "top_p", "top_k", "max_tokens")}
        made = self._made(
            tuple(request["prompt"]), request["seed"] + index, Sampling(**fields), *request["stop_token_ids"]
        )
        choice: dict[str, Any] = {"index": index, "text": "", "finish_reason": made.finish, "logprobs": None}
        if request.get("return_token_ids"):
            choice |= {"token_ids": list(made.ids), "prompt_token_ids": request["prompt"]}
        if request.get("logprobs") is not None:
            marks = [f"token_id:{id}" for id in made.ids]
            choice["logprobs"] = {"tokens": marks, "token_logprobs": [-1.0 - place for place in range(len(marks))]}
        return choice | self.spoil


def main(arguments: list[str]) -> None:
    mode, _, after = os.environ.get("USERTURN_TEST_SERVER", "").partition(":")
    print("starting as", *arguments, flush=True)
    if mode == "silent":
        time.sleep(3600)
    port = int(arguments[arguments.index("--port") + 1])
    engine = Engine(arguments[1], device="cpu")
    with CompletionsServer(engine, port=port, version="0.10.0" if mode == "old" else "0.31.0") as server:
        if mode == "dies":
            while len(server.requests) <= int(after):
                time.sleep(0.01)
            print("out of memory", flush=True)
            os._exit(7)
        threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1:])
