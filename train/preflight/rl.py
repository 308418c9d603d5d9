"""Preflight checks of `python -m train.rl`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from eval import plugin
from eval.checks.estimate import Estimate
from eval.checks.finding import Check, Finding, passed
from eval.checks.judge_reachable import judge_checks
from eval.checks.pins import pins
from eval.checks.run_folder import folder_check
from eval.checks.served_weights import served_check
from eval.checks.tracker_ready import tracker_checks
from eval.dialogue import Message
from eval.serving.vllm_version import required_vllm
from train.checks.sampling_speed import ROWS
from train.checks.trained_model import NOT_MEASURED, Example, TrainedModel, shared
from train.grpo_arguments import episodes_per_step
from train.parallel import extras, refuse_other_process_count
from train.rl_config import RlConfig
from train.rl_parts import RlParts, open_parts
from train.rl_prompts import open_prompts
from train.show_mask import CLOSE, OPEN, printable

CONFIG = RlConfig


def checks(config: RlConfig, processes: int) -> list[Check]:
    """The checks of an RL run with `processes` processes, in order of dependence."""
    model = TrainedModel(config)

    @functools.cache
    def parts() -> RlParts:
        return open_parts(config, planned=processes)

    def run_identity() -> tuple[dict[str, Any], dict[str, Any]]:
        refuse_other_process_count(config.run_dir, processes)
        return parts().protocol, {"seed": config.seed, "tasks": {}}

    def prompts() -> Finding:
        return passed(f"{len(open_prompts(config)):,} prompts of {', '.join(config.prompts)}")

    def settings() -> Finding:
        arguments = parts().arguments
        summary = f"{arguments.max_steps} steps of {episodes_per_step(arguments)} episodes ({parts().division})"
        return passed(f"{summary}, TRL accepts the settings; {parts().judge.id} rewards, {_evaluating(parts())}")

    def example() -> Example:
        ids = episode_ids(parts())
        return ids, ids

    def together() -> list[list[int]]:
        arguments: Any = parts().arguments
        rows = arguments.per_device_train_batch_size * arguments.steps_per_generation
        return first_prompts(parts(), min(ROWS, rows))

    before = ("template", "prompts", *(model.data.names if model.data else ()))
    judges = [("judge that rewards", config.judge)]
    judges += [("judge that evaluates", config.probe.judge)] if config.probe else []
    served = [served_check(_vllm, lambda: model.folder, lambda: episode_ids(parts()))] if vllm_serves(config) else []
    vllm = (required_vllm(),) if vllm_serves(config) else ()
    return [
        Check("pins", functools.partial(pins, extras(config.parallel), vllm)),
        *model.opening_checks(refuses_slow_kernels=not config.allow_slow),
        Check("prompts", prompts),
        *model.data_checks,
        *judge_checks(judges),
        Check("settings", settings, before),
        Check("mask", lambda: mask(parts()), ("settings",)),
        *served,
        model.adapters_check(example, ("settings",), None if vllm_serves(config) else together),
        *tracker_checks(config.report_to),
        folder_check(config.run_dir, run_identity, ("settings",)),
        model.disk_check(lambda: (parts().arguments, parts().arguments.max_steps)),
        Check("estimate", lambda: estimate(parts(), model), ("settings", "adapters")),
    ]


def _evaluating(parts: RlParts) -> str:
    if parts.probe is None:
        return "and there is no probe"
    return f"{'the same' if parts.probe.judge.id == parts.judge.id else 'another'} judge evaluates"


def vllm_serves(config: RlConfig) -> bool:
    """Whether the episodes are sampled with vLLM."""
    return bool(config.trl.get("use_vllm"))


def _vllm(folder: Path) -> Any:
    """vLLM as the probe starts it; whether it uses the weights TRL sends is checked in the run (`weight_sync.py`)."""
    return plugin.load("eval.engines", "vllm").Engine(folder)


def first_prompts(parts: RlParts, count: int) -> list[list[int]]:
    """Token ids of the first prompts, as an episode starts with them."""
    role = "user" if parts.boundary is None else "assistant"
    rows = list(parts.prompts.values())[:count]
    return [parts.chat_format.open_turn(row.dialogue.messages, role) for row in rows]


def episode_ids(parts: RlParts) -> list[int]:
    """Token ids of an episode on the first prompt, with short fixed turns in place of sampled ones."""
    row = next(iter(parts.prompts.values()))
    return parts.chat_format.ids([*row.dialogue.messages, *_turns(parts)])


def _turns(parts: RlParts) -> list[Message]:
    answer, turn = Message("assistant", "It is 42."), Message("user", "Why is it 42?")
    return [turn] if parts.boundary is None else [answer, turn]


def mask(parts: RlParts) -> Finding:
    """The finding "mask": an episode with the sampled and trained parts in brackets."""
    row = next(iter(parts.prompts.values()))
    chat_format = parts.chat_format
    role = "user" if parts.boundary is None else "assistant"
    text = chat_format.decode(chat_format.open_turn(row.dialogue.messages, role))
    if parts.boundary is not None:
        stop = parts.boundary.after([])[:1]
        text += f"{OPEN}the answer{chat_format.decode(stop)}{CLOSE}{chat_format.decode(parts.boundary.after(stop))}"
    rendering = "as history" if parts.boundary is None or parts.boundary.as_in_history else "as sampled, not as history"
    summary = f"up to {parts.config.answer_tokens} tokens of the answer and {parts.config.user_tokens} of the user turn"
    shown = printable(f"{text}{OPEN}the user turn{CLOSE}")
    return passed(f"{summary} are trained, an answer before a user turn is rendered {rendering}", shown)


def estimate(parts: RlParts, model: TrainedModel) -> Finding:
    """The finding "estimate": tokens of all episodes, and hours to train and sample them at measured speeds."""
    arguments: Any = parts.arguments
    episodes = arguments.max_steps * episodes_per_step(arguments)
    prompts = first_prompts(parts, 100)
    read = sum(map(len, prompts)) / len(prompts)
    written = parts.config.user_tokens + (parts.config.answer_tokens if parts.boundary else 0)
    tokens, dollars = round(episodes * (read + written)), _dollars(parts, episodes)
    if model.seconds_per_token is None:
        return Estimate(None, tokens, dollars, NOT_MEASURED).finding()
    training = tokens * arguments.num_iterations * model.seconds_per_token
    sampling = episodes * written * (model.seconds_per_sampled_token or 0.0)
    hours = (training + sampling) / 3600 / arguments.world_size
    measured = "training" if model.seconds_per_sampled_token is None else "training and sampling"
    basis = f"{measured} at speeds measured on this {model.where}{shared(arguments)}"
    return Estimate(hours, tokens, dollars, basis, left_out(parts, model)).finding()


def left_out(parts: RlParts, model: TrainedModel) -> tuple[str, ...]:
    """What the hours do not include; a judge may take `judge_s` per rollout."""
    arguments = parts.arguments
    passes = arguments.max_steps * arguments.gradient_accumulation_steps
    rollouts = -(-passes // (arguments.num_iterations * int(arguments.steps_per_generation or 1)))
    judging = f"judging (at most {rollouts * parts.config.judge_s / 3600:,.2f} h)"
    sampling = ("sampling",) if model.seconds_per_sampled_token is None else ()
    return (*sampling, judging, *(("probes",) if parts.probe else ()))


def _dollars(parts: RlParts, episodes: int) -> float | None:
    """Largest cost of both judges, in US dollars."""
    bounds = [(parts.judge.cost_bound, episodes)]
    if parts.probe is not None and parts.config.probe is not None:
        probes = 2 + parts.arguments.max_steps // parts.config.probe.every
        bounds.append((parts.probe.judge.cost_bound, probes * len(parts.probe.tasks.dialogues)))
    if any(bound is None for bound, _ in bounds):
        return None
    return sum((bound or 0.0) * times for bound, times in bounds)
