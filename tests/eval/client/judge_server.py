"""A real HTTP server on the loopback that speaks chat completions and batches, and misbehaves on schedule.

    python tests/eval/client/judge_server.py --latency 0.2      prints its base URL and serves until its input ends

Each request takes the next fault of the schedule; when the schedule is used up, requests are answered properly.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

VERDICT = {"label": "genuine_followup", "genuine": True}
FAULTS = {
    "429": (429, {}, {"code": "rate_limit_exceeded", "message": "slow down"}),
    "429_after": (429, {"Retry-After": "0.02"}, {"code": "rate_limit_exceeded", "message": "slow down"}),
    "429_wording": (429, {}, {"code": "concurrency", "message": "INSUFFICIENT QUOTA: insufficient_quota"}),
    "429_quota": (429, {}, {"code": "insufficient_quota", "message": "no credit"}),
    "500": (500, {}, {"message": "oops"}),
    "503_after": (503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, {"message": "overloaded"}),
    "400": (400, {}, {"code": None, "message": "no"}),
    "400_parameter": (400, {}, {"code": "unsupported_parameter", "param": "temperature", "message": "no"}),
    "400_long": (400, {}, {"code": "context_length_exceeded", "message": "too long"}),
    "401": (401, {}, {"code": "invalid_api_key", "message": "Incorrect API key provided: sk-secret"}),
    "404": (404, {}, {"code": "model_not_found", "message": "no such model"}),
}
"""Refusals: status, headers, error."""
REPLIES: dict[str, dict[str, Any]] = {
    "length": {"finish_reason": "length", "content": '{"label": "genuine_followup", "genu'},
    "length_empty": {"finish_reason": "length", "content": None},
    "length_whole": {"finish_reason": "length", "content": json.dumps(VERDICT)},
    "filtered": {"finish_reason": "content_filter", "content": json.dumps(VERDICT)},
    "refusal": {"refusal": "I can't\u2028help\x85with that.", "content": None},
    "empty": {"content": ""},
    "blank": {"content": " \n"},
    "unknown_label": {"content": '{"label": "brilliant", "genuine": true}'},
    "duplicate": {"content": '{"label": "other", "genuine": false, "genuine": true}'},
    "duplicate_label": {"content": '{"label": "other", "label": "genuine_followup", "genuine": true}'},
    "string_genuine": {"content": '{"label": "genuine_followup", "genuine": "true"}'},
    "number_genuine": {"content": '{"label": "genuine_followup", "genuine": 1}'},
    "list_label": {"content": '{"label": ["genuine_followup"], "genuine": true}'},
    "missing": {"content": '{"label": "genuine_followup"}'},
    "extra": {"content": '{"label": "genuine_followup", "genuine": true, "score": 5}'},
    "two_verdicts": {"content": json.dumps(VERDICT) + json.dumps(VERDICT)},
    "fenced": {"content": f"```json\n{json.dumps(VERDICT)}\n```"},
    "prose": {"content": "genuine_followup, true"},
    "deep": {"content": "[" * 100_000},
    "tool": {"finish_reason": "tool_calls", "content": json.dumps(VERDICT)},
    "null": {"content": "null"},
}
"""Whole replies that hold no verdict: the fields in which they differ from a proper one."""
BODIES = {
    "no_choices": {"choices": [], "model": "judge"},
    "null_choice": {"choices": [None]},
    "number_content": {"choices": [{"finish_reason": "stop", "message": {"content": 5}}]},
    "error_200": {"error": {"message": "upstream failed"}},
}
RAW = {
    "half_json": b'{"choices": [{"finish_reason": "stop", "mess',
    "html": b"<html>Bad gateway</html>",
    "nothing": b"",
}
PASSING = ("429", "429_after", "429_wording", "500", "503_after", "hang", "reset", "short", *BODIES, *RAW)
"""Faults after which the same request may succeed."""
LASTING = ("400", "400_long", *REPLIES)
"""Faults that are this request's own."""


class JudgeServer:
    """A context manager that serves in a thread of its own; `requests` holds the bodies it was sent, in order."""

    def __init__(
        self,
        schedule: Iterable[str] = (),
        *,
        latency: float = 0.0,
        usage: bool = True,
        port: int = 0,
        answer: Callable[[dict[str, Any]], str] = lambda body: json.dumps(VERDICT),
    ) -> None:
        """Set up the server; `port` 0 takes a free one, `answer` gives the text of a proper reply to a request."""
        self.schedule = iter(schedule)
        self.port, self.answer = port, answer
        self.latency, self.usage = latency, usage
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.served: Counter[str] = Counter()
        self.running = self.most_running = 0
        self.paths: dict[str, str] = {}
        """Request targets that are served as another."""
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.batch_plans: list[dict[str, Any]] = []
        """What happens to the next batches: `status`, `code`, and faults by position in `rows`."""

    def __enter__(self) -> JudgeServer:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        opening = asyncio.start_server(self._connected, "127.0.0.1", self.port, limit=2**24)
        self._server = asyncio.run_coroutine_threadsafe(opening, self._loop).result()
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        path = self.paths.get(target, target)
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:] if line)}
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        if path == "/v1/chat/completions":
            return await self._complete(json.loads(content), headers, writer)
        writer.write(_response(*self.batch_api(method, path.removeprefix("/v1/"), content)))
        return True

    async def _complete(self, body: dict[str, Any], headers: dict[str, str], writer: asyncio.StreamWriter) -> bool:
        self.requests.append(body)
        self.headers.append(headers)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(self.latency)
            fault = next(self.schedule, "ok")
            self.served[fault] += 1
            return await self._serve(fault, body, writer)
        finally:
            self.running -= 1

    async def _serve(self, fault: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        """Write the response; False if the connection is to be closed after it."""
        if fault == "hang":
            await asyncio.sleep(3600)
        if fault == "slow":
            await asyncio.sleep(0.03)
        if fault == "reset":
            writer.transport.abort()
            return False
        whole = _response(*self.outcome(fault, body))
        writer.write(whole[: len(whole) - 20] if fault == "short" else whole)
        return fault != "short"

    def outcome(self, fault: str, request: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the response to the body of a request."""
        if fault in RAW:
            return 200, {}, RAW[fault]
        if fault in BODIES:
            return 200, {}, json.dumps(BODIES[fault]).encode()
        if fault == "echo":
            message = f"cannot take {request['messages'][1]['content']}"
            return 400, {}, json.dumps({"error": {"code": None, "message": message}}).encode()
        if fault in FAULTS:
            status, headers, error = FAULTS[fault]
            return status, headers, json.dumps({"error": error}).encode()
        return 200, {}, json.dumps(self.completion(request, REPLIES.get(fault, {}))).encode()

    def completion(self, request: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
        message = {"role": "assistant", "content": self.answer(request), "refusal": None}
        finish = changes.get("finish_reason", "stop")
        message |= {name: value for name, value in changes.items() if name != "finish_reason"}
        usage = {"prompt_tokens": 900, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 400}}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": "judge-1",
            "choices": [{"index": 0, "finish_reason": finish, "message": message}],
            "usage": usage if self.usage else None,
        }

    def batch_api(self, method: str, path: str, content: bytes) -> tuple[int, dict[str, str], bytes]:
        """The files and batches of the API: uploaded, ended at the second look, read back."""
        kind, *rest = path.split("/")
        if method == "POST" and kind == "files":
            file_id = f"file-{len(self.files)}"
            self.files[file_id] = content.split(b"\r\n\r\n")[-1].rsplit(b"\r\n--", 1)[0]
            answer: Any = {"id": file_id, "object": "file"}
        elif method == "POST" and kind == "batches":
            answer = self._new_batch(json.loads(content)["input_file_id"])
        elif kind.startswith("batches?"):
            answer = {"object": "list", "data": list(self.batches.values())[::-1], "has_more": False}
        elif kind == "batches" and rest[0] in self.batches:
            answer = self.batches[rest[0]]
            if answer["status"] == "validating":
                self._end(answer)
                answer = {**answer, "status": "in_progress", "output_file_id": None, "error_file_id": None}
        elif kind == "files" and rest[0] in self.files:
            return 200, {}, self.files[rest[0]]
        else:
            return 404, {}, json.dumps({"error": {"message": f"no {path}"}}).encode()
        return 200, {}, json.dumps(answer).encode()

    def _new_batch(self, input_file_id: str) -> dict[str, Any]:
        batch_id = f"batch_{len(self.batches)}"
        self.batches[batch_id] = {"id": batch_id, "status": "validating", "input_file_id": input_file_id}
        return self.batches[batch_id]

    def _end(self, batch: dict[str, Any]) -> None:
        """Answer the requests of a batch, last one first, by the next plan: rows by position, "missing" among them."""
        plan = self.batch_plans.pop(0) if self.batch_plans else {}
        batch["status"] = plan.get("status", "completed")
        if batch["status"] == "failed":
            batch["errors"] = {"data": [{"code": plan["code"], "message": plan["code"]}]}
            return
        requests = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        rows: dict[str, list[Any]] = {"output_file_id": [], "error_file_id": []}
        for position, request in reversed(list(enumerate(requests))):
            self.requests.append(request["body"])
            fault = plan.get("rows", {}).get(position, "ok")
            if fault == "expired":
                error = {"code": "batch_expired", "message": "not done in time"}
                rows["error_file_id"].append({"custom_id": request["custom_id"], "response": None, "error": error})
            elif fault != "missing":
                status, _, body = self.outcome(fault, request["body"])
                response = {"status_code": status, "body": json.loads(body)}
                name = "output_file_id" if status == 200 else "error_file_id"
                rows[name].append({"custom_id": request["custom_id"], "response": response, "error": None})
        for name, lines in rows.items():
            if lines:
                batch[name] = f"file-{len(self.files)}"
                text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
                self.files[batch[name]] = text.encode()


def _response(status: int, headers: dict[str, str], body: bytes) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    with JudgeServer(latency=parser.parse_args().latency) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
