"""Preflight checks of `python -m train.sft`."""

from __future__ import annotations

import functools
from typing import Any

from eval.checks.estimate import Estimate
from eval.checks.finding import Check, Finding, passed
from eval.checks.judge_reachable import judge_checks
from eval.checks.pins import pins
from eval.checks.run_folder import folder_check
from eval.checks.tracker_ready import tracker_checks
from train.checks.trained_model import NOT_MEASURED, Example, TrainedModel, shared
from train.examples import TrainingExample
from train.mixture import Mixture
from train.parallel import extras, refuse_other_process_count
from train.sft_config import SftConfig
from train.sft_parts import SftParts, open_parts
from train.show_mask import marked
from train.training_rows import read_training_rows

CONFIG = SftConfig
MEASURED = 192
"""Largest length, in tokens, of the example that is run through the model, if there is one so short."""


def checks(config: SftConfig, processes: int) -> list[Check]:
    """The checks of a fine-tuning run with `processes` processes, in order of dependence."""
    model = TrainedModel(config)

    @functools.cache
    def parts() -> SftParts:
        return open_parts(config, planned=processes)

    def run_identity() -> tuple[dict[str, Any], dict[str, Any]]:
        refuse_other_process_count(config.run_dir, processes)
        return parts().protocol, {"seed": config.seed, "tasks": {}}

    def settings() -> Finding:
        opened = parts()
        return passed(f"{opened.steps} steps of {opened.batch} examples ({opened.division}), TRL accepts the settings")

    def example() -> Example:
        chosen = longest_within(MEASURED, parts().mixture)
        return chosen.input_ids, chosen.labels

    before = ("template", "data", *(model.data.names if model.data else ()))
    judges = judge_checks([("judge", config.probe.judge)] if config.probe else [])
    return [
        Check("pins", functools.partial(pins, extras(config.parallel))),
        *model.opening_checks(refuses_slow_kernels=not config.allow_slow),
        Check("data", lambda: data_finding(config)),
        *model.data_checks,
        Check("settings", settings, before),
        Check("mask", lambda: mask(parts().mixture, model), ("settings",)),
        model.adapters_check(example, ("settings",)),
        *judges,
        *tracker_checks(config.report_to),
        folder_check(config.run_dir, run_identity, ("settings",)),
        model.disk_check(lambda: (parts().arguments, parts().steps)),
        Check("estimate", lambda: estimate(parts(), model), ("settings", "adapters")),
    ]


def data_finding(config: SftConfig) -> Finding:
    """The finding "data": conversations and replay exist, and none of their rows belongs to an evaluation."""
    files = [read_training_rows(path) for path in (config.data, config.replay and config.replay.path) if path]
    return passed(", ".join(f"{len(file.rows):,} rows of {file.path}" for file in files))


def mask(mixture: Mixture, model: TrainedModel) -> Finding:
    """The finding "mask": an example for inspection, and the number of trained tokens in all examples."""
    trained, tokens = (sum(count) for count in zip(*((e.trained, len(e.input_ids)) for e in mixture.all), strict=True))
    left_out = sum(mixture.left_out.values())
    summary = f"{trained:,} of {tokens:,} tokens in {len(mixture.all):,} examples are trained, {left_out} left out"
    return passed(summary, marked(mixture.all[0], model.chat_format).plain)


def longest_within(tokens: int, mixture: Mixture) -> TrainingExample:
    """The longest example of at most `tokens` tokens, or else the shortest of all."""
    fitting = [example for example in mixture.all if len(example.input_ids) <= tokens]
    if fitting:
        return max(fitting, key=lambda example: len(example.input_ids))
    return min(mixture.all, key=lambda example: len(example.input_ids))


def estimate(parts: SftParts, model: TrainedModel) -> Finding:
    """The finding "estimate": tokens, and hours at one example's speed divided among processes; without probes."""
    sizes = [len(example.input_ids) for example in parts.mixture.all]
    tokens = round(parts.steps * parts.batch * sum(sizes) / len(sizes))
    left_out = ("probes",) if parts.config.probe else ()
    if model.seconds_per_token is None:
        return Estimate(None, tokens, _dollars(parts), NOT_MEASURED).finding()
    hours = tokens * model.seconds_per_token / 3600 / parts.arguments.world_size
    basis = f"at the speed of one example on this {model.where}{shared(parts.arguments)}"
    return Estimate(hours, tokens, _dollars(parts), basis, left_out).finding()


def _dollars(parts: SftParts) -> float | None:
    """Largest cost of the probe's judge, in US dollars."""
    if parts.probe is None or parts.config.probe is None:
        return 0.0
    if parts.probe.judge.cost_bound is None:
        return None
    probes = 2 + parts.steps // parts.config.probe.every
    return probes * len(parts.probe.tasks.dialogues) * parts.probe.judge.cost_bound
