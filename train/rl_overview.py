"""What a reinforcement-learning run will do, as a table: prompts, episodes, rewards, judges and their cost."""

from __future__ import annotations

from collections import Counter

from eval.table import Cell, Table
from train.grpo_arguments import episodes_per_step
from train.rl_parts import RlParts

COLUMNS = ("source", "prompts", "longest prompt")


def overview(parts: RlParts) -> Table:
    """One row per task of the prompts; notes on steps, rewards and judges."""
    config, arguments = parts.config, parts.arguments
    role = "assistant" if parts.boundary else "user"
    tasks = Counter(row.dialogue.task for row in parts.prompts.values())
    longest: Counter[str] = Counter()
    for row in parts.prompts.values():
        length = len(parts.chat_format.open_turn(row.dialogue.messages, role))
        longest[row.dialogue.task] = max(longest[row.dialogue.task], length)
    rows = tuple((Cell(task), Cell.number(count), Cell.number(longest[task])) for task, count in tasks.items())
    per_step = episodes_per_step(arguments)
    rewards = ", ".join(f"{reward.weight:g} x {name}" for name, reward in config.rewards.items())
    notes = [
        f"{arguments.max_steps} steps of {per_step} episodes, {arguments.num_generations} of a prompt",
        f"an optimizer step: {parts.division}",
        f"rewards: {rewards}; credit by {config.credit}; judged by {parts.judge.id}",
        f"evaluated by {parts.probe.judge.id}" if parts.probe else "no probe: nothing is evaluated during training",
    ]
    if parts.judge.cost_bound is None:
        notes.append("the cost of judging is unknown: the judge has no price")
    elif parts.judge.cost_bound:
        dollars = parts.judge.cost_bound * arguments.max_steps * per_step
        notes.append(f"judging all episodes costs at most ${dollars:,.2f}, not counting probes")
    if parts.boundary is not None and not parts.boundary.as_in_history:
        notes.append("the user turn follows the answer as it was sampled, not as history: probe with history as_last")
    return Table("Prompts", COLUMNS, rows, tuple(notes))
