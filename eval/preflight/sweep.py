"""Preflight checks of `python -m eval.sweep`: of each model once, with the rows and the judge that cells share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from eval.checks.chat_template import template_check
from eval.checks.disk import disk_check
from eval.checks.finding import Check
from eval.checks.judge_reachable import judge_checks
from eval.checks.kernels import device_check, kernels_check
from eval.checks.model_files import local_folder, model_check
from eval.checks.pins import pins
from eval.checks.probe_cost import probe_estimate
from eval.checks.task_data import TaskData
from eval.checks.tracker_ready import tracker_checks
from eval.preflight.probe import BYTES_OF_A_ROW, vllm_pins
from eval.rendering.model_format import open_chat_format
from eval.sweep_config import Cell, SweepConfig
from eval.sweep_estimate import by_model

CONFIG = SweepConfig


def checks(config: SweepConfig) -> list[Check]:
    """The checks of all cells of a sweep, in order of dependence."""
    cells = config.cells()
    data = TaskData(cells[0].config)

    def rows() -> tuple[int, str]:
        return len(cells) * len(data.all.dialogues) * BYTES_OF_A_ROW, f"rows of {len(cells)} cells"

    also = {needed for cell in cells for needed in vllm_pins(cell.config)}
    models = [check for model, own in by_model(cells).items() for check in _of_model(model, own, data)]
    return [
        Check("pins", functools.partial(pins, also=sorted(also))),
        device_check(),
        *data.checks,
        *judge_checks([("judge", cells[0].config.judge)]),
        *tracker_checks(cells[0].config.report_to),
        disk_check(config.run_dir, rows, needs=data.names),
        *models,
    ]


def _of_model(model: str, cells: Sequence[Cell], data: TaskData) -> list[Check]:
    """The checks of one model, named after it; each needs those before it."""
    first = cells[0].config

    @functools.cache
    def folder() -> Path:
        return local_folder(first.model, first.revision)

    def estimated() -> Check:
        needs = ("template", *data.names, "judge")
        return Check("estimate", lambda: probe_estimate(cells, data.all, folder()), needs)

    template = template_check(lambda: open_chat_format(folder(), first.format, first.history))
    own = [model_check(folder), template, kernels_check(folder), estimated()]
    names = {check.name for check in own}
    return [
        Check(
            f"{check.name} of {model}",
            check.look,
            tuple(f"{need} of {model}" if need in names else need for need in check.needs),
        )
        for check in own
    ]
