"""The README of a policy's model folder: what it was rewarded for, by whom, and what was measured meanwhile."""

from __future__ import annotations

from typing import Any

from train.model_card import card, probe_found
from train.rl_overview import overview
from train.rl_parts import Parts


def rl_card(parts: Parts, summary: dict[str, Any]) -> str:
    """The card of a reinforcement-learning run."""
    from eval import table_formats

    config = parts.config
    rewards = "\n".join(
        f"- {name}: {told(mean['first'])} in the first steps, {told(mean['last'])} in the last"
        for name, mean in summary["rewards"].items()
    )
    sections = [
        f"`{summary['base']}` trained with GRPO on episodes that it plays itself (`episode: {config.episode}`), "
        f"{'all weights' if config.lora is None else 'low-rank adapters, merged'}; {summary['steps']} steps.",
        f"## Mean rewards\n\n{rewards}\n\nJudged by `{summary['reward_judge']}`: what it says of this model is what "
        "the model was trained to make it say, and measures nothing.",
        probe_found(summary["probe"]),
        table_formats.to_markdown([overview(parts)]),
    ]
    return card(config, config.name, "grpo", None if parts.is_local else config.model, sections)


def told(mean: float | None) -> str:
    """A mean for a person."""
    return "unknown" if mean is None else f"{mean:.3f}"
