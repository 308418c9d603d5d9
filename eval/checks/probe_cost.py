"""The cost of a probe before it starts: tokens, hours and the judge's dollars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.checks.estimate import Estimate
from eval.checks.finding import Finding
from eval.checks.judge_reachable import open_judge
from eval.checks.kernels import device_here
from eval.checks.model_files import gigabytes, weights_bytes
from eval.resources import Tasks, open_speaker
from eval.sweep_config import Cell
from eval.sweep_estimate import measured_speed, sampled_speed, work_of

HEAVY = 1.5e9
"""Size of weights, in bytes, above which a CPU would need more than about a minute for a few turns."""


@dataclass(frozen=True)
class Work:
    """The work left to do, over all cells."""

    tokens: int
    dollars: float | None


def lacking(cells: Sequence[Cell], tasks: Tasks) -> Work:
    """The work left to do in the run folders of `cells`, which share the rows of `tasks`."""
    works = [work_of(cell, tasks.dialogues, open_judge(cell.config.judge).cost_bound) for cell in cells]
    dollars = [work.dollars for work in works]
    known = None if None in dollars else sum(one for one in dollars if one is not None)
    return Work(sum(work.tokens for work in works), known)


def speed_of(cell: Cell, tasks: Tasks, folder: Path) -> tuple[float | None, str]:
    """Generated tokens per second, None if that cannot be measured here; and the source of the number."""
    if speed := measured_speed([cell.config.run_dir]):
        return speed, f"{speed:.0f} tokens/s in {cell.config.run_dir}"
    if cell.config.engine.name != "transformers":
        return None, f"the speed of engine {cell.config.engine.name} is not measured here"
    device = device_here()
    if device is None and weights_bytes(folder) > HEAVY:
        return None, f"{gigabytes(weights_bytes(folder))} of weights are not run on this CPU"
    local = cell.config.model_copy(update={"model": str(folder), "revision": None})
    speed = sampled_speed(open_speaker(local), tasks.dialogues, cell)
    where = device.name if device else "CPU"
    return speed, "no token was generated" if speed is None else f"{speed:.0f} tokens/s on this {where}"


def probe_estimate(cells: Sequence[Cell], tasks: Tasks, folder: Path) -> Finding:
    """The finding "estimate" for cells of one model."""
    work = lacking(cells, tasks)
    if not work.tokens:
        return Estimate(0.0, 0, work.dollars, "no token is missing").finding()
    speed, basis = speed_of(cells[0], tasks, folder)
    return Estimate(work.tokens / speed / 3600 if speed else None, work.tokens, work.dollars, basis).finding()
