"""The README of a policy's model folder: its rewards, the judge behind them, and what was measured during training."""

from __future__ import annotations

from typing import Any

from train.model_card import card, probe_section
from train.rl_overview import overview
from train.rl_parts import RlParts


def rl_card(parts: RlParts, summary: dict[str, Any]) -> str:
    """The card of a reinforcement-learning run."""
    from eval import table_formats

    config = parts.config
    rewards = "\n".join(
        f"- {name}: {formatted(mean['first'])} in the first steps, {formatted(mean['last'])} in the last"
        for name, mean in summary["rewards"].items()
    )
    sections = [
        f"`{summary['base']}` trained with GRPO on episodes that it generates itself (`episode: {config.episode}`), "
        f"{'all weights' if config.lora is None else 'low-rank adapters, merged'}; {summary['steps']} steps.",
        f"## Mean rewards\n\n{rewards}\n\nJudged by `{summary['reward_judge']}`. The model was trained to please "
        "this judge, so this judge's verdicts do not measure the model.",
        probe_section(summary["probe"]),
        table_formats.to_markdown([overview(parts)]),
    ]
    return card(config, config.name, "grpo", None if parts.is_local else config.model, sections)


def formatted(mean: float | None) -> str:
    """A mean as shown to the user."""
    return "unknown" if mean is None else f"{mean:.3f}"
