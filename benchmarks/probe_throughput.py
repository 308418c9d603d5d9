"""User-turn tokens per second of our engine, compared with a plain `generate` loop and unsorted fixed batches.

    python benchmarks/probe_throughput.py [--data-dir DATA] [--json]

Reads GSM8K test questions with their solutions and HealthBench conversations with the physician's response, half each,
from `--data-dir` or USERTURN_DATA, otherwise the pocket conversations. Prompts are limited to 640 tokens, because stock
attention over a padded batch of longer ones needs minutes and gigabytes on a CPU. All methods decode greedily. The loop
is slow, so it runs on every fourth prompt by length, which keeps the mix. The methods alternate within each repeat, a
ratio is the median over repeats, and CPU seconds are printed too, because the load on the machine varies. Finally, one
probe run measures the share of its wall time outside the engine. Asserts nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from eval import manifest, plugin, probe
from eval.dialogue import Dialogue, Message
from eval.engine import Completion, Prompt, Sampling
from eval.engines.transformers import Engine
from eval.sources import read_source
from eval.tasks import gsm8k, healthbench, pocket

FIXED = 16
"""Rows in a fixed batch."""
LOOP_EVERY = 4
"""The loop runs on every fourth prompt by length."""

Run = Callable[[list[Prompt]], Iterable[tuple[int, ...]]]


@dataclass(frozen=True)
class Measured:
    """One run of one method: user-turn tokens, wall and CPU seconds."""

    tokens: int
    wall: float
    cpu: float


def main() -> None:
    options = arguments()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    chat_format = plugin.load("eval.formats", "smollm2").Format(AutoTokenizer.from_pretrained(options.model))
    prompts: list[Prompt] = []
    for kind in (kinds := conversations(options.data_dir)):
        ids = ((dialogue.id, chat_format.open_turn(dialogue.messages, "user")) for dialogue in kind)
        short_enough = (Prompt(key, prompt, 0) for key, prompt in ids if len(prompt) <= options.longest)
        prompts += islice(short_enough, options.prompts // len(kinds))
    random.Random(0).shuffle(prompts)
    stop_ids = chat_format.stop_ids("user")
    engine, plain = Engine(options.model), AutoModelForCausalLM.from_pretrained(options.model).eval()
    sampling = Sampling(max_tokens=options.max_tokens)
    by_length = sorted(prompts, key=lambda prompt: len(prompt.ids))
    methods: dict[str, tuple[Run, list[Prompt]]] = {
        "engine": (lambda rows: ours(engine, rows, sampling, stop_ids), prompts),
        f"unsorted batches of {FIXED}": (lambda rows: generate(plain, rows, FIXED, sampling, stop_ids), prompts),
        "one by one": (lambda rows: generate(plain, rows, 1, sampling, stop_ids), by_length[::LOOP_EVERY]),
    }
    list(ours(engine, prompts[:2], Sampling(max_tokens=2), stop_ids))
    list(generate(plain, prompts[:2], 2, Sampling(max_tokens=2), stop_ids))
    runs: dict[str, list[Measured]] = {name: [] for name in methods}
    for repeat in range(options.repeats):
        for name, (run, rows) in methods.items():
            runs[name].append(measure(run, rows))
            print(f"repeat {repeat + 1}: {name} {runs[name][-1]}", file=sys.stderr, flush=True)
    report = {
        "methods": {name: summary(runs[name], len(rows)) for name, (_, rows) in methods.items()},
        "engine_over": {name: ratios(runs["engine"], runs[name]) for name in list(methods)[1:]},
        "outside_engine": outside_share(options.model, options.data_dir),
        "prompt_tokens": {"total": sum(len(p.ids) for p in prompts), "longest": len(by_length[-1].ids)},
        "setting": {
            "command": " ".join(["python", *sys.argv]),
            "commit": manifest.git_state(Path(__file__).parent)["commit"],
            "threads": torch.get_num_threads(),
            "load_average": os.getloadavg()[0],
            **manifest.hardware(),
        },
    }
    print(json.dumps(report, indent=2)) if options.json else show(report)


def arguments() -> argparse.Namespace:
    folder = os.environ.get("USERTURN_DATA")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="models/SmolLM2-135M-Instruct")
    parser.add_argument("--data-dir", type=Path, default=Path(folder) if folder else None)
    parser.add_argument("--prompts", type=int, default=64)
    parser.add_argument("--longest", type=int, default=640, help="skip longer prompts, in tokens")
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    return parser.parse_args()


def conversations(data_dir: Path | None) -> list[list[Dialogue]]:
    """Shuffled dialogues that end in an assistant message, one list per kind."""
    if data_dir is None:
        return [[dialogue for dialogue in pocket.load() if dialogue.messages[-1].role == "assistant"]]
    columns = {"question": str, "answer": str}
    solved = [
        Dialogue("gsm8k", (Message("user", row["question"]), Message("assistant", row["answer"])))
        for _, row in read_source(gsm8k.SOURCE, columns, split="test", data_dir=data_dir)
    ]
    held_out = [dialogue for dialogue in healthbench.load(data_dir=data_dir) if dialogue.failure is None]
    return [random.Random(0).sample(kind, len(kind)) for kind in (solved, held_out)]


def ours(
    engine: Engine, prompts: list[Prompt], sampling: Sampling, stop_ids: frozenset[int]
) -> Iterator[tuple[int, ...]]:
    for key, result in engine.generate(prompts, sampling, stop_ids):
        if not isinstance(result, Completion):
            raise RuntimeError(f"{key}: {result}")
        yield result.ids


def generate(
    model: Any, prompts: list[Prompt], rows: int, sampling: Sampling, stop_ids: frozenset[int]
) -> Iterator[tuple[int, ...]]:
    """transformers' `generate` on batches of `rows` prompts in the given order; each turn ends with its stop token."""
    import torch

    settings: dict[str, Any] = {"do_sample": False, "eos_token_id": sorted(stop_ids), "pad_token_id": min(stop_ids)}
    for start in range(0, len(prompts), rows):
        batch = prompts[start : start + rows]
        longest = max(len(prompt.ids) for prompt in batch)
        ids = torch.tensor([[0] * (longest - len(prompt.ids)) + list(prompt.ids) for prompt in batch])
        mask = torch.tensor([[0] * (longest - len(prompt.ids)) + [1] * len(prompt.ids) for prompt in batch])
        output = model.generate(ids, attention_mask=mask, max_new_tokens=sampling.max_tokens, **settings)
        for row in output[:, longest:].tolist():
            ends = [place for place, token in enumerate(row) if token in stop_ids]
            yield tuple(row[: ends[0] + 1] if ends else row)


def measure(run: Run, prompts: list[Prompt]) -> Measured:
    wall, cpu = time.perf_counter(), time.process_time()
    tokens = sum(len(ids) for ids in run(prompts))
    return Measured(tokens, time.perf_counter() - wall, time.process_time() - cpu)


def summary(runs: list[Measured], prompts: int) -> dict[str, float]:
    return {
        "prompts": prompts,
        "tokens": median(run.tokens for run in runs),
        "tokens_per_s": round(median(run.tokens / run.wall for run in runs), 2),
        "cpu_ms_per_token": round(median(1000 * run.cpu / run.tokens for run in runs), 1),
    }


def ratios(ours: list[Measured], others: list[Measured]) -> dict[str, float]:
    """Speedup of the engine by wall time and by CPU time, medians over the repeats."""
    pairs = list(zip(ours, others, strict=True))
    return {
        "wall": round(median(a.tokens / a.wall * b.wall / b.tokens for a, b in pairs), 2),
        "cpu": round(median(a.tokens / a.cpu * b.cpu / b.tokens for a, b in pairs), 2),
    }


def outside_share(model: str, data_dir: Path | None) -> dict[str, float]:
    """Wall seconds of one small probe run, and the share of them spent outside `Engine.generate`."""
    task = {"gsm8k": {"limit": 8}, "healthbench": {"limit": 8}} if data_dir else {"pocket": {"limit": 6}}
    with tempfile.TemporaryDirectory() as folder, engine_clock() as inside:
        config = Path(folder) / "probe.yaml"
        settings = {"model": model, "format": "smollm2", "run_dir": f"{folder}/run", "tasks": task}
        config.write_text(json.dumps(settings))
        chosen = ["--data-dir", str(data_dir)] if data_dir else []
        started = time.perf_counter()
        with contextlib.redirect_stdout(sys.stderr):
            status = probe.main(["--config", str(config), *chosen])
        wall = time.perf_counter() - started
    if status:
        raise RuntimeError(f"the probe run ended with status {status}")
    return {"wall_s": round(wall, 1), "share": round(1 - inside[0] / wall, 4)}


@contextlib.contextmanager
def engine_clock() -> Iterator[list[float]]:
    """Accumulates the wall seconds inside `Engine.generate`, excluding the time it waits for its caller's prompts."""
    inside, original = [0.0], Engine.generate

    def timed(values: Iterable[Any], sign: int) -> Iterator[Any]:
        source = iter(values)
        while True:
            started = time.perf_counter()
            try:
                value = next(source)
            except StopIteration:
                return
            finally:
                inside[0] += sign * (time.perf_counter() - started)
            yield value

    def generate(self: Engine, prompts: Iterable[Prompt], *rest: Any) -> Iterator[Any]:
        return timed(original(self, timed(prompts, -1), *rest), +1)

    Engine.generate = generate
    try:
        yield inside
    finally:
        Engine.generate = original


def show(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("method", "prompts", "tokens", "tokens/s", "CPU ms/token", "speedup of the engine", "by CPU time")
    for name, row in report["methods"].items():
        speedup = report["engine_over"].get(name)
        speedups = [f"{speedup['wall']:.2f}x", f"{speedup['cpu']:.2f}x"] if speedup else ["", ""]
        table.add_row(name, *(str(value) for value in row.values()), *speedups)
    console = Console()
    console.print(table)
    outside = report["outside_engine"]
    console.print(f"outside the engine: {outside['share']:.1%} of the {outside['wall_s']} s of a probe run")
    console.print({"prompt tokens": report["prompt_tokens"], **report["setting"]})


if __name__ == "__main__":
    main()
