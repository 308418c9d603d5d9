"""Preflight checks of `python -m eval.probe`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from eval import plugin
from eval.checks.chat_template import ASKED, template_check
from eval.checks.disk import disk_check
from eval.checks.finding import Check
from eval.checks.judge_reachable import judge_checks
from eval.checks.kernels import device_check, kernels_check
from eval.checks.model_files import local_folder, model_check
from eval.checks.pins import pins
from eval.checks.probe_cost import probe_estimate
from eval.checks.served_weights import served_check
from eval.checks.task_data import TaskData
from eval.checks.tracker_ready import tracker_checks
from eval.probe_config import ProbeConfig
from eval.rendering.chat_format import ChatFormat
from eval.rendering.model_format import open_chat_format
from eval.serving.vllm_version import required_vllm
from eval.sweep_config import Cell

CONFIG = ProbeConfig
BYTES_OF_A_ROW = 64_000
"""Generous size of a dialogue with two generated turns, stored as turn, row and text."""


def checks(config: ProbeConfig) -> list[Check]:
    """The checks of a probe, in order of dependence."""
    data = TaskData(config)

    @functools.cache
    def folder() -> Path:
        return local_folder(config.model, config.revision)

    @functools.cache
    def chat_format() -> ChatFormat:
        return open_chat_format(folder(), config.format, config.history)

    def rows() -> tuple[int, str]:
        return len(data.all.dialogues) * BYTES_OF_A_ROW, "rows"

    def engine_of(found: Path) -> Any:
        return plugin.load("eval.engines", config.engine.name).Engine(found, **config.engine.options)

    local = config.engine.name == "vllm"
    served = [served_check(engine_of, folder, lambda: chat_format().open_turn(ASKED, "user"))] if local else []
    cell = Cell(config.model, config.name or "probe", config)
    return [
        Check("pins", functools.partial(pins, also=vllm_pins(config))),
        device_check(),
        model_check(folder),
        template_check(chat_format),
        kernels_check(folder),
        *data.checks,
        *judge_checks([("judge", config.judge)]),
        *tracker_checks(config.report_to),
        *served,
        disk_check(config.run_dir, rows, needs=data.names),
        Check("estimate", lambda: probe_estimate([cell], data.all, folder()), needs=("template", *data.names, "judge")),
    ]


def vllm_pins(config: ProbeConfig) -> tuple[str, ...]:
    """The requirements of the engine of `config` in addition to this project's own."""
    return (required_vllm(),) if config.engine.name == "vllm" else ()
