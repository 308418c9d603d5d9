"""One full pass over the same prompts (load, generate, grade, write) by our probe and by the alternatives.

    python benchmarks/peers.py [--rows 200] [--data-dir DATA]

Compares the answer stage of our probe, lm-eval (`hf`, `generate_until`), inspect-ai (`hf`) and a loop over `generate`.
Each method runs in its own process, one after the other, greedy, with the same float32 weights, number of threads,
token limit and questions (GSM8K's test split from `--data-dir` or USERTURN_DATA, otherwise our own arithmetic). lm-eval
and inspect-ai run in their own environments, created on the first run. Target: 1.5 times as fast as the fastest of
them. CPU seconds are printed next to wall seconds, because the load on the machine varies. Tokens are counted from the
texts, with one tokenizer for all methods. Asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from peer_venv import python_of

from eval import manifest, plugin
from eval.tasks import arithmetic, gsm8k

HERE = Path(__file__).parent
OURS = "userturn"
PEERS = {"lm-eval": "peer_lm_eval.py", "inspect-ai": "peer_inspect.py", "transformers loop": "peer_loop.py"}
TARGET = 1.5


@dataclass(frozen=True)
class Measured:
    """One process: its wall and CPU seconds, and its output."""

    wall: float
    cpu: float
    tokens: int
    correct: int
    last_line: str


def main() -> None:
    options = arguments()
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(options.model)
    task = "gsm8k" if options.data_dir else "arithmetic"
    chat_format = plugin.load("eval.formats", "smollm2").Format(tokenizer)
    data = gsm8k.load(options.rows, data_dir=options.data_dir) if options.data_dir else arithmetic.load(options.rows)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with (prompts := folder / "prompts.jsonl").open("w", encoding="utf-8") as file:
            for dialogue in data:
                rendered = tokenizer.decode(chat_format.open_turn(dialogue.messages, "assistant"))
                prompt = dialogue.messages[0].text
                row = {"prompt": prompt, "rendered": rendered, "reference": str(dialogue.reference)}
                file.write(json.dumps(row) + "\n")
        settings = {"model": options.model, "format": "smollm2", "run_dir": str(folder / "run")}
        settings |= {"tasks": {task: {"limit": options.rows}}, "answers": {"max_tokens": options.max_tokens}}
        settings |= {"data_dir": str(options.data_dir)} if options.data_dir else {}
        (folder / "probe.json").write_text(json.dumps(settings), encoding="utf-8")
        measured = {}
        for name in options.methods:
            measured[name] = run(
                name, command(name, folder, prompts, options), folder / f"{name}.jsonl", options, tokenizer
            )
            print(f"{name}: {measured[name]}", file=sys.stderr, flush=True)
    show(measured, len(data), options)


def arguments() -> argparse.Namespace:
    data = os.environ.get("USERTURN_DATA")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="models/SmolLM2-135M-Instruct")
    parser.add_argument("--data-dir", type=Path, default=Path(data) if data else None)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--batch", type=int, default=16, help="rows in a batch of the peers; ours chooses its own")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--methods", nargs="+", choices=[OURS, *PEERS], default=[OURS, *PEERS])
    return parser.parse_args()


def command(name: str, folder: Path, prompts: Path, options: argparse.Namespace) -> list[str]:
    out = str(folder / f"{name}.jsonl")
    if name == OURS:
        return [sys.executable, str(HERE / "peer_userturn.py"), str(folder / "probe.json"), out]
    python = sys.executable if name == "transformers loop" else str(python_of(name))
    model = str(Path(options.model).resolve())
    return [python, str(HERE / PEERS[name]), str(prompts), out, model, str(options.max_tokens), str(options.batch)]


def run(name: str, command: list[str], out: Path, options: argparse.Namespace, tokenizer: Any) -> Measured:
    """Run one method to completion; fails if the method fails."""
    threads = {variable: str(options.threads) for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    environment = {**os.environ, **threads, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"{name} ended with status {process.returncode}")
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    tokens = sum(len(tokenizer(row["text"], add_special_tokens=False)["input_ids"]) for row in rows)
    last_line = output.strip().splitlines()[-1] if name == OURS else ""
    return Measured(wall, used.ru_utime + used.ru_stime, tokens, sum(bool(row["correct"]) for row in rows), last_line)


def show(measured: dict[str, Measured], rows: int, options: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("method", "wall s", "CPU s", "tokens", "tokens / s", "tokens / CPU s", "correct", "ours is faster by")
    ours = measured.get(OURS)
    ratios = {}
    for name, one in measured.items():
        rates = one.tokens / one.wall, one.tokens / one.cpu
        speedup = ""
        if ours and name != OURS:
            ratios[name] = (ours.tokens / ours.cpu) / rates[1]
            speedup = f"{ours.tokens / ours.wall / rates[0]:.2f}x, by CPU time {ratios[name]:.2f}x"
        seconds = (f"{one.wall:.1f}", f"{one.cpu:.1f}")
        table.add_row(name, *seconds, str(one.tokens), *(f"{rate:.1f}" for rate in rates), str(one.correct), speedup)
    console = Console(width=140)
    console.print(table)
    if ours:
        console.print(f"seconds of ours: {ours.last_line}")
    if ratios:
        least = min(ratios.values())
        console.print(
            f"target {TARGET} over the fastest, by CPU time: {'reached' if least >= TARGET else 'MISSED'} ({least:.2f})"
        )
    commit = manifest.git_state(HERE)["commit"]
    setting = {"rows": rows, "limit": options.max_tokens, "batch of peers": options.batch, "threads": options.threads}
    console.print({**setting, "commit": commit, "load average": os.getloadavg()[0], **manifest.hardware()})


if __name__ == "__main__":
    main()
