"""Scaling of the bookkeeping from 1,000 rows up: time should be linear in the rows, and memory flat.

    python benchmarks/scale.py [--sizes 1000 10000 100000] [--million]

Runs each stage that needs no model or judge, in its own process per size: rows are written one by one as in a probe
(`write`), the store is reopened and every row looked up (`resume`), rows are summarised (`summarise`), turned into the
paper's tables (`tables`), compared with a second run (`compare`) and written as reports (`report`). Prints the seconds,
their ratio for ten times the rows (linear: 10), and the peak memory above that of a hundred rows, in MiB. Seconds hold
for this machine only. Asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from pydantic import Field

from eval.config import Config
from eval.dialogue import Dialogue, Judgement, Message, content_hash
from eval.rows import RowStore
from eval.run_dir import RunDir
from eval.summary import summarise

LABELS = ("genuine_followup", "generic_followup", "new_task_prompt", "previous_turn_restate", "other")
STAGES = ("write", "resume", "summarise", "tables", "compare", "report")


class FolderConfig(Config):
    """The configuration fields that a run folder needs."""

    run_dir: Path = Field(description="run folder")
    name: str = Field(description="name of the model")


def main() -> None:
    options = arguments()
    if options.stage:
        print(json.dumps(stage(options.stage, options.folder, options.sizes[0])))
        return
    sizes = [*options.sizes, *([1_000_000] if options.million else [])]
    measured: dict[int, dict[str, dict[str, float]]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            measured[size] = {name: in_process(name, Path(folder), size) for name in options.stages}
    show(measured)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], metavar="ROWS")
    parser.add_argument("--million", action="store_true", help="a million rows too: some 2 GB on the disk")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES, help="of which `write` comes first")
    parser.add_argument("--folder", type=Path, help="where the rows are written; default: the system's for such files")
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    return parser.parse_args()


def in_process(name: str, folder: Path, size: int) -> dict[str, float]:
    """Seconds and MiB of one stage, measured by this script in a separate process."""
    command = [sys.executable, __file__, "--stage", name, "--folder", str(folder), "--sizes", str(size)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    print(f"{size:,} rows, {name}: {figures}", file=sys.stderr, flush=True)
    return figures


def stage(name: str, folder: Path, size: int) -> dict[str, float]:
    """Run one stage on the run folders "base" and "sft" in `folder`, which have `size` rows in total.

    It first runs on a hundred rows, to exclude imports from time and memory.
    """
    with tempfile.TemporaryDirectory(dir=folder) as small:
        for model in ("base", "sft") if name != "write" else ():
            write(Path(small) / model, model, 50)
        run_stage(name, Path(small), 100)
    before, started, busy = peak(), time.perf_counter(), time.process_time()
    run_stage(name, folder, size)
    seconds, cpu = time.perf_counter() - started, time.process_time() - busy
    return {"seconds": round(seconds, 3), "cpu_s": round(cpu, 3), "mib": round(peak() - before, 1)}


def run_stage(name: str, folder: Path, size: int) -> None:
    for model in ("base", "sft"):
        if name == "write":
            write(folder / model, model, size // 2)
        elif name == "resume":
            resume(folder / model, model, size // 2)
        elif name == "summarise":
            summarise_rows(folder / model)
    if name in ("tables", "compare", "report"):
        read(name, folder)


def read(name: str, folder: Path) -> None:
    """The stages that read both finished runs."""
    from eval.finished_runs import read_runs
    from eval.model_comparison.comparison import compare_models
    from eval.paper import run_tables
    from eval.report_page.page import write_page

    runs = read_runs([folder / "base", folder / "sft"])
    if name == "tables":
        run_tables.build(runs, run_tables.names())
    elif name == "compare":
        compare_models(runs)
    else:
        for run in runs:
            write_page([run], folder / f"{run.name}.html")


def peak() -> float:
    """Peak memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row(model: str, number: int) -> Dialogue:
    """A finished row of typical size: its number identifies it for every model, and no two turns begin alike."""
    query = f"A baker fills {number} trays with 15 rolls each and sells all but 12 of them. How many are sold? " * 2
    loaded = Dialogue("gsm8k", (Message("user", query),), reference=str(number * 15 - 12), meta={"row": number})
    answer = f"Each tray holds 15 rolls, so there are {number} * 15 = {number * 15} rolls to begin with. " * 6
    dialogue = loaded.says(Message("assistant", answer, f"{model}@0", "stop", 150))
    turn = f"Why {word(number)}, and why 12 from {number * 15}?"
    dialogue = dialogue.says(Message("user", turn, f"{model}@0", "stop", 14))
    label = LABELS[(number + len(model)) % len(LABELS)]
    judgement = Judgement(label, label.endswith("followup"), "local-1")
    return Dialogue("gsm8k", dialogue.messages, loaded.reference, loaded.meta, number % 3 == 0, judgement, id=loaded.id)


def word(number: int) -> str:
    """A distinct word per number: its digits as letters."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def key(model: str, number: int) -> str:
    return content_hash([model, number])


def write(folder: Path, model: str, size: int) -> None:
    sampling = {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "max_tokens": 96, "seed": 0}
    protocol: dict[str, Any] = {"model": f"{model}@0", "format": "smollm2", "template_sha": "0", "engine": "x"}
    protocol |= {"history": "as_history", "answers": sampling, "answers_sha": "0", "sampling": sampling}
    protocol |= {"judge": "local-1", "perturbation": None, "answers_from": None, "dtype": "float32"}
    with (
        RunDir(folder, FolderConfig(run_dir=folder, name=model), protocol, {"seed": 0, "tasks": {"gsm8k": {}}}) as run,
        RowStore(folder / "rows.jsonl") as store,
    ):
        for number in range(size):
            store.append(key(model, number), row(model, number))
        run.finish({"tasks": [asdict(summary) for summary in summarise(store)]})


def resume(folder: Path, model: str, size: int) -> None:
    with RowStore(folder / "rows.jsonl") as store:
        missing = sum(store.missing(key(model, number)) for number in range(size))
    if missing:
        raise RuntimeError(f"{missing} of {size} rows are missing")


def summarise_rows(folder: Path) -> None:
    with RowStore(folder / "rows.jsonl") as store:
        summarise(store)


def show(measured: dict[int, dict[str, dict[str, float]]]) -> None:
    from rich.console import Console
    from rich.table import Table

    sizes = list(measured)
    table = Table("stage", *(f"{size:,} rows" for size in sizes), *(f"CPU {b:,} / {a:,}" for a, b in pairwise(sizes)))
    for name in measured[sizes[0]]:
        figures = [measured[size][name] for size in sizes]
        cells = [f"{one['seconds']:.2f} s, {one['mib']:.0f} MiB" for one in figures]
        ratios = [f"{later['cpu_s'] / max(earlier['cpu_s'], 1e-3):.1f}" for earlier, later in pairwise(figures)]
        table.add_row(name, *cells, *ratios)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
