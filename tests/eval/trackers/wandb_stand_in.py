"""A stand-in for the server of Weights & Biases: what wandb 0.31 asks of it for runs, metrics, files and artifacts.

It keeps what it is sent. It says of every artifact that it has it already, so that no file of it is uploaded.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class StandIn:
    """What the server knows, and how it behaves."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        """Of every answer to a GraphQL request."""
        self.stalled = threading.Event()
        """While it is set, metrics are not answered."""
        self.runs: dict[str, dict[str, Any]] = {}
        """Id -> the arguments with which the run was created, with its newest config."""
        self.lines: dict[str, dict[str, dict[int, Any]]] = defaultdict(lambda: defaultdict(dict))
        """Id -> file -> number of the line -> what is in it: a line that is sent again replaces the first."""
        self.made: set[tuple[str, str]] = set()
        self.used: set[tuple[str, str]] = set()
        """(id of the run, artifact)."""

    def history(self, run: str) -> list[dict[str, Any]]:
        """The metrics of a run, in order."""
        return [line for _, line in sorted(self.lines[run]["wandb-history.jsonl"].items())]

    def answer(self, operation: str, given: dict[str, Any]) -> dict[str, Any]:
        """To a GraphQL operation; of one that is not known, that there is nothing."""
        method = getattr(self, f"_{operation}", None)
        return method(given) if method else {"serverInfo": {"features": []}, "project": {"artifact": None}}

    def _Viewer(self, given: dict[str, Any]) -> dict[str, Any]:
        teams: dict[str, Any] = {"edges": []}
        return {"viewer": {"id": "u", "entity": "me", "username": "me", "name": "me", "flags": "{}", "teams": teams}}

    def _RunResumeStatus(self, given: dict[str, Any]) -> dict[str, Any]:
        run, project = given["name"], {"id": "p", "name": given["project"], "entity": {"id": "e", "name": "me"}}
        if run not in self.runs:
            return {"model": {**project, "bucket": None}}
        tail = [json.dumps(line) for line in self.history(run)[-1:]]
        bucket = {
            "id": run,
            "name": run,
            "displayName": self.runs[run]["displayName"],
            "summaryMetrics": tail[0] if tail else "{}",
            "historyLineCount": len(self.history(run)),
            "eventsLineCount": 0,
            "logLineCount": 0,
            "historyTail": json.dumps(tail),
            "eventsTail": "[]",
            "config": self.runs[run]["config"],
            "tags": [],
            "wandbConfig": json.dumps({"t": 1}),
        }
        return {"model": {**project, "bucket": bucket}}

    def _UpsertBucket(self, given: dict[str, Any]) -> dict[str, Any]:
        run = self.runs.setdefault(given["name"], dict(given))
        run["config"] = given["config"] or run["config"]
        project = {"id": "p", "name": given["project"], "entity": {"id": "e", "name": "me"}}
        bucket = {"id": given["name"], "name": given["name"], "project": project, "config": run["config"]}
        bucket |= {"displayName": run["displayName"], "historyLineCount": len(self.history(given["name"]))}
        return {"upsertBucket": {"bucket": bucket, "inserted": True}}

    def _CreateRunFiles(self, given: dict[str, Any]) -> dict[str, Any]:
        files = [{"name": name, "uploadUrl": f"{self.url}/uploaded/{name}"} for name in given["files"]]
        return {"createRunFiles": {"runID": given["run"], "uploadHeaders": [], "files": files}}

    def _CreateArtifact(self, given: dict[str, Any]) -> dict[str, Any]:
        name = given["input"]["artifactCollectionName"]
        self.made.add((given["input"]["runName"], name))
        sequence = {"id": "s", "latestArtifact": {"id": name, "versionIndex": 0}}
        return {"createArtifact": {"artifact": {"id": name, "state": "COMMITTED", "artifactSequence": sequence}}}

    def _UseArtifact(self, given: dict[str, Any]) -> dict[str, Any]:
        self.used.add((given["input"]["runName"], given["input"]["artifactID"]))
        return {"useArtifact": {"artifact": {"id": given["input"]["artifactID"]}}}


@contextmanager
def serving() -> Iterator[StandIn]:
    """A stand-in on a free port of this machine."""
    stand_in = StandIn()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None: ...

        def _body(self) -> bytes:
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def _reply(self, content: Any, status: int = 200) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self._reply({}, 404)

        def do_PUT(self) -> None:
            self._body()
            self._reply({})

        def do_POST(self) -> None:
            body = self._body()
            if self.path == "/graphql":
                asked = json.loads(body)
                found = stand_in.answer(asked.get("operationName") or "", asked.get("variables") or {})
                self._reply({"data": found}, stand_in.status)
            elif self.path.endswith("/file_stream"):
                while stand_in.stalled.is_set():
                    threading.Event().wait(0.05)
                for name, chunk in (json.loads(body).get("files") or {}).items():
                    lines = stand_in.lines[self.path.split("/")[-2]][name]
                    lines |= {chunk["offset"] + n: json.loads(line) for n, line in enumerate(chunk["content"])}
                self._reply({"exitcode": None, "limits": {}})
            else:  # telemetry
                self._reply({})

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        stand_in.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield stand_in
        finally:
            stand_in.stalled.clear()
            server.shutdown()
