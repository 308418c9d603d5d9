"""How much of what a server could answer the judge `openai` gets out of it.

    python benchmarks/judge_throughput.py

A server in a process of its own takes 200 ms for each reply, so 64 requests at once could make 320 a second. Prints
the rate reached as a share of that (aim: at least 0.90), and the rate of a second pass, which finds all in the cache.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eval.dialogue import Dialogue, Message
from eval.judges.openai import Judge

SERVER = Path(__file__).parent.parent / "tests" / "eval" / "client" / "judge_server.py"
LATENCY_S, CONCURRENCY = 0.2, 64
AIM = 0.90


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    dialogues = [dialogue(number) for number in range(options.rows)]
    passes = [run(dialogues) for _ in range(options.repeats)]
    first, again = (statistics.median(seconds) for seconds in zip(*passes, strict=True))
    ratios = sorted(options.rows / seconds * LATENCY_S / CONCURRENCY for seconds, _ in passes)
    print(f"{options.rows} rows, {options.repeats} repeats, {LATENCY_S * 1000:.0f} ms, concurrency {CONCURRENCY}")
    print(f"first pass   {first:6.2f} s  {options.rows / first:7.0f} rows/s")
    print(f"from cache   {again:6.2f} s  {options.rows / again:7.0f} rows/s")
    print(
        f"ratio to concurrency / latency: {statistics.median(ratios):.3f} (range {ratios[0]:.3f} to {ratios[-1]:.3f})"
    )
    print(f"aim {AIM:.2f}: {'reached' if statistics.median(ratios) >= AIM else 'MISSED'}")


def dialogue(number: int) -> Dialogue:
    """A conversation of usual size, different for each number."""
    query = f"A baker fills {number} trays with 15 rolls each and sells all but 12. How many are sold? " * 2
    response = f"Each tray holds 15 rolls, so there are {number} * 15 = {number * 15} rolls to begin with. " * 8
    turn = f"Why do you take the 12 away from {number * 15}?"
    return Dialogue("benchmark", (Message("user", query), Message("assistant", response), Message("user", turn)))


def run(dialogues: list[Dialogue]) -> tuple[float, float]:
    """Seconds of a first pass over the dialogues and of a second one, after one row that imports what is needed."""
    with server() as url, tempfile.TemporaryDirectory() as folder:
        judge = Judge(
            model="judge",
            base_url=url,
            api_key_variable=None,
            cache=Path(folder) / "judgements.sqlite",
            canary=False,
            concurrency=CONCURRENCY,
        )
        assert len(list(judge.judge([dialogue(-1)]))) == 1
        seconds = []
        for _ in range(2):
            started = time.perf_counter()
            judged = sum(1 for _ in judge.judge(dialogues))
            seconds.append(time.perf_counter() - started)
            assert judged == len(dialogues)
        assert judge.measured["attempts"] == {"reply": len(dialogues) + 1}
    return seconds[0], seconds[1]


@contextmanager
def server() -> Iterator[str]:
    command = [sys.executable, str(SERVER), "--latency", str(LATENCY_S)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


if __name__ == "__main__":
    main()
