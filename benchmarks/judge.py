"""How close the judge `openai`, and inspect-ai's model-graded scorer, come to the maximum rate of a server.

    python benchmarks/judge.py [--rows 1000] [--without-peer]

A server in its own process takes 200 ms per reply, so 64 concurrent requests allow 320 per second. Prints the achieved
rate as a share of that (target: at least 0.95), the maximum share with whole rounds of 64, the CPU time per row, which
limits the rate on a shared core, and the rate of a second pass, served from the cache. Then inspect-ai's
`model_graded_qa` grades the same rows with the same server. Asserts no time.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "eval" / "client"))

from judge_server import VERDICT, JudgeServer
from peer_venv import python_of

from eval.dialogue import Dialogue, Message
from eval.judges.openai import Judge

HERE = Path(__file__).parent
LATENCY_S, CONCURRENCY = 0.2, 64
TARGET = 0.95
TOKEN_COUNTS = ("prompt_tokens", "completion_tokens")


@dataclass(frozen=True)
class Pass:
    """One pass over all rows: wall and CPU seconds of the client, without the server."""

    seconds: float
    cpu: float


def main() -> None:
    options = arguments()
    if options.serve:
        serve()
        return
    dialogues = [dialogue(number) for number in range(options.rows)]
    ours, again = zip(*(run(dialogues) for _ in range(options.repeats)), strict=True)
    rounds = options.rows / CONCURRENCY
    print(f"{options.rows} rows, {options.repeats} repeats, {LATENCY_S * 1000:.0f} ms, concurrency {CONCURRENCY}")
    print(f"maximum      {rounds / math.ceil(rounds):.3f} of concurrency / latency, in whole rounds")
    share = print_share("judge openai", options.rows, ours)
    print(f"from cache   {options.rows / statistics.median(one.seconds for one in again):.0f} rows/s")
    if not options.without_peer:
        print_share("inspect-ai", options.rows, [inspect(dialogues) for _ in range(options.repeats)])
    print(f"target {TARGET:.2f}: {'reached' if share >= TARGET else 'MISSED'}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--without-peer", action="store_true", help="skip inspect-ai and its environment")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def print_share(name: str, rows: int, passes: Any) -> float:
    """Print the rate of the passes as a share of concurrency / latency; returns the median."""
    shares = sorted(rows / one.seconds * LATENCY_S / CONCURRENCY for one in passes)
    cpu = statistics.median(one.cpu for one in passes) * 1000 / rows
    median = statistics.median(shares)
    spread = f"range {shares[0]:.3f} to {shares[-1]:.3f}"
    print(f"{name:12} {median:.3f} of concurrency / latency ({spread}), {cpu:.2f} CPU ms per row")
    return median


def dialogue(number: int) -> Dialogue:
    """A conversation of typical size, different for each number."""
    query = f"A baker fills {number} trays with 15 rolls each and sells all but 12. How many are sold? " * 2
    response = f"Each tray holds 15 rolls, so there are {number} * 15 = {number * 15} rolls to begin with. " * 8
    turn = f"Why do you take the 12 away from {number * 15}?"
    return Dialogue("benchmark", (Message("user", query), Message("assistant", response), Message("user", turn)))


def run(dialogues: list[Dialogue]) -> tuple[Pass, Pass]:
    """A first and a second pass over the dialogues, after one warm-up row that triggers imports."""
    with server() as url, tempfile.TemporaryDirectory() as folder:
        judge = Judge(
            model="judge",
            base_url=url,
            api_key_variable=None,
            cache=Path(folder) / "judgements",
            canary=False,
            concurrency=CONCURRENCY,
        )
        assert len(list(judge.judge([dialogue(-1)]))) == 1
        passes = []
        for _ in range(2):
            started, busy = time.perf_counter(), time.process_time()
            judged = sum(1 for _ in judge.judge(dialogues))
            passes.append(Pass(time.perf_counter() - started, time.process_time() - busy))
            assert judged == len(dialogues)
        assert judge.measured["attempts"] == {"reply": len(dialogues) + 1}
    return passes[0], passes[1]


def inspect(dialogues: list[Dialogue]) -> Pass:
    """One pass over the same rows by inspect-ai, which must grade all of them."""
    with server() as url, tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        with rows.open("w", encoding="utf-8") as file:
            for one in dialogues:
                query, response, turn = (message.text for message in one.messages)
                file.write(json.dumps({"query": query, "response": response, "turn": turn}) + "\n")
        command = [str(python_of("inspect-ai")), str(HERE / "peer_inspect_judge.py"), url, str(rows), str(CONCURRENCY)]
        figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    if figures["graded"] != len(dialogues):
        raise SystemExit(f"inspect-ai graded {figures['graded']} of {len(dialogues)} rows")
    return Pass(figures["seconds"], figures["cpu_s"])


class Server(JudgeServer):
    """Replies to either client in the form it expects, with the fields that OpenAI's SDK requires."""

    def completion(self, request: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
        completion = super().completion(request, changes)
        usage = completion["usage"]
        return {**completion, "created": 0, "usage": {**usage, "total_tokens": sum(map(usage.get, TOKEN_COUNTS))}}


def serve() -> None:
    """Serve until standard input is closed."""

    def answer(request: dict[str, Any]) -> str:
        return json.dumps(VERDICT) if "response_format" in request else "It does. GRADE: C"

    with Server(latency=LATENCY_S, answer=answer) as served:
        print(served.url, flush=True)
        sys.stdin.read()


@contextmanager
def server() -> Iterator[str]:
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


if __name__ == "__main__":
    main()
