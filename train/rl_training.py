"""Trains a policy on the episodes it generates, from its last complete checkpoint or from the start.

Under a distributed launcher every process trains; only the main process judges, probes and writes, and shares results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from eval.client.spender import spending
from eval.serving.vllm_version import installed_vllm
from eval.tracker import Tracker
from train.accuracy_price import multiplier_after
from train.adapters import trained_weights
from train.callbacks import LossLog, ProbeSchedule, Sealer
from train.checkpoints import last_checkpoint
from train.episode_log import COLUMNS, EpisodeLog, table_rows
from train.episodes import Episode
from train.grpo_arguments import steps_per_batch
from train.held_out_probe import Measured
from train.kernels import refuse_slow_path
from train.main_process import run_on_main
from train.preemption import train_until_preempted
from train.reward_judge import RewardJudge
from train.rl_parts import RlParts
from train.rollout import Rollout
from train.scoring import Scored, Scorer
from train.training_log import NoLog, TrainingLog, read_log
from train.training_run import Tell, language_model, measure
from train.turn_credit import Scale
from train.weight_sync import WeightSyncCheck

if TYPE_CHECKING:
    from trl import GRPOTrainer


Display = Callable[[int, int, Callable[[], str]], AbstractContextManager[Callable[[], None]]]
"""(total steps, steps done, function that returns the current note) -> progress display."""


@dataclass(frozen=True)
class Records:
    """Where a run reports to; on all but the main process these do nothing."""

    log: TrainingLog | NoLog
    tracker: Tracker
    episodes: EpisodeLog | None
    tell: Tell
    display: Display


def train(parts: RlParts, folder: Path, records: Records) -> tuple[GRPOTrainer, ProbeSchedule | None]:
    """Train to the last step, or until the guard stops training; returns the trainer and the probe's schedule.

    Raises:
        ConfigError: a loss or gradient is not finite, no episode gets a reward, or a setting does not work.
        Preempted: a signal ended training; a checkpoint is saved.
    """
    from transformers.utils.logging import disable_progress_bar

    from train.grpo_trainer import make_trainer
    from train.trainer_events import listener

    disable_progress_bar()
    if parts.arguments.use_vllm:
        installed_vllm()
    checkpoint = run_on_main(lambda: last_checkpoint(folder / "checkpoints"))
    done = int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0
    rollout = _rollout(parts, records)
    trainer = make_trainer(
        parts.open_model(), parts.tokenizer, parts.arguments, rollout, list(parts.config.rewards), parts.config.lora
    )
    refuse_slow_path(language_model(trainer), parts.config.allow_slow)
    records.tell(trained_weights(trainer.accelerator.unwrap_model(trainer.model)))
    loss_log = LossLog(records.log, records.tracker, "inspect the episodes in episodes.jsonl", note=mean_rewards)
    schedule = _schedule(parts, trainer, folder / "probes", records)
    with ExitStack() as stack:
        display = records.display(parts.arguments.max_steps, done, lambda: _note(parts, loss_log.last))
        loss_log.advance = stack.enter_context(display)
        trainer.add_callback(listener(on_log=loss_log.on_log, on_save=Sealer(folder / "checkpoints").on_save))
        if schedule is not None:
            trainer.add_callback(listener(**schedule.events))
        train_until_preempted(trainer, checkpoint, every=steps_per_batch(parts.arguments))
    return trainer, schedule


def _note(parts: RlParts, rewards: str) -> str:
    """What the display shows after the counts: rewards of the last step and dollars spent by the run."""
    probe_judge = parts.probe.judge if parts.probe else None
    return ", ".join(filter(None, [rewards, spending(judge=parts.judge, probe_judge=probe_judge)]))


def mean_rewards(logs: Mapping[str, Any]) -> str:
    """The mean of each reward in a step, for the progress display."""
    means = {name.split("/")[1]: logs[name] for name in logs if name.startswith("rewards/") and name.endswith("/mean")}
    return ", ".join(f"{name} {'unknown' if mean is None else f'{mean:.2f}'}" for name, mean in means.items())


def _rollout(parts: RlParts, records: Records) -> Rollout:
    config, arguments = parts.config, parts.arguments
    scorer = Scorer(
        rewards=parts.rewards,
        weights={name: reward.weight for name, reward in config.rewards.items()},
        judge=RewardJudge(parts.judge, config.judge_s),
        credit=config.credit,
        group=int(arguments.num_generations or 1),
        scale=cast(Scale, arguments.scale_rewards),
    )
    return Rollout(
        dialogues={id: row.dialogue for id, row in parts.prompts.items()},
        chat_format=parts.chat_format,
        boundary=parts.boundary,
        answer_tokens=config.answer_tokens,
        user_tokens=config.user_tokens,
        seed=config.seed,
        name=config.name,
        score=_scoring(parts, scorer, records),
        metric_names=scorer.metric_names,
        before=_weight_sync(parts, records),
    )


def _weight_sync(parts: RlParts, records: Records) -> WeightSyncCheck:
    """The check of vLLM's weights on the first prompt, with its metrics logged."""

    def tell(step: int, metrics: Mapping[str, float]) -> None:
        records.log.append(step, {"weight_sync": metrics})
        records.tracker.log(step, {"weight_sync": metrics})
        largest = max(value for name, value in metrics.items() if name != "allowed")
        records.tell(f"vLLM's log-probs differ from the trainer's by {largest:.2g}, {metrics['allowed']:g} is allowed")

    first = next(iter(parts.prompts.values())).dialogue
    return WeightSyncCheck(parts.chat_format.open_turn(first.messages, "assistant" if parts.boundary else "user"), tell)


def _scoring(parts: RlParts, scorer: Scorer, records: Records) -> Callable[[int, Sequence[Episode]], Scored]:
    """A function that scores the episodes of a step with the weights of that step, and logs them."""
    price, count = parts.config.accuracy_price, parts.config.shown_episodes

    def score(step: int, episodes: Sequence[Episode]) -> Scored:
        if price is not None:
            multiplier = multiplier_after(read_log(records.log.path), step, price)
            scorer.weights[price.reward] = parts.config.rewards[price.reward].weight + multiplier
        scored = scorer(episodes)
        if records.episodes is not None:
            records.episodes.append(step, scored.episodes)
        if count:
            records.tracker.table(step, "episodes", COLUMNS, table_rows(step, scored.episodes, count))
        return scored

    return score


def _schedule(parts: RlParts, trainer: GRPOTrainer, folder: Path, records: Records) -> ProbeSchedule | None:
    settings, probe = parts.config.probe, parts.probe
    if settings is None or probe is None:
        return None

    def measure_at(step: int) -> Measured:
        return measure(probe, trainer, parts.folder, parts.chat_format, parts.config.name, step, folder)

    return ProbeSchedule(settings.every, measure_at, records.log, records.tracker, records.tell, settings.guard)
