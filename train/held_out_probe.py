"""A held-out probe of a model in training: a small `python -m eval.probe` on the weights in memory.

Each time, the same rows are answered, given a user turn and judged by the same code as a separate probe. Knows no
trainer: `train/callbacks.py` decides when to probe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval import progress
from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.judge import Judge
from eval.probe_config import ProbeConfig
from eval.resources import ResourceCache, Tasks
from eval.rows import RowStore
from eval.speaker import Speaker
from eval.stages import Turns, decide
from eval.stats.rates import Rate
from eval.summary import TaskSummary, summarise
from eval.tracked_results import metrics_of
from train.training_rows import TrainingRow


@dataclass(frozen=True)
class Measured:
    """The results of one probe."""

    tasks: list[TaskSummary]

    def pooled(self, rate: str) -> Rate:
        """The rate "genuine", "specific" or "accuracy" over the rows of all tasks."""
        rates = [getattr(task, rate) for task in self.tasks]
        return Rate(sum(rate.successes for rate in rates), sum(rate.n for rate in rates))

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """By task: rows, rows not judged, rates in [0, 1] or None if nothing was measured, label shares."""
        return metrics_of(self.tasks)

    def __str__(self) -> str:
        rates = [f"{name} {_percent(self.pooled(name))}" for name in ("genuine", "specific", "accuracy")]
        unjudged = sum(task.unjudged for task in self.tasks)
        return ", ".join([*rates, *([f"{unjudged} rows not judged"] if unjudged else [])])


def _percent(rate: Rate) -> str:
    return "unknown" if rate.point is None else f"{100 * rate.point:.1f} % (n={rate.n})"


@dataclass(frozen=True)
class HeldOutProbe:
    """Measures a changing model on fixed rows."""

    config: ProbeConfig
    tasks: Tasks
    judge: Judge

    def measure(self, speaker: Speaker, folder: Path) -> Measured:
        """Generate answers and user turns with `speaker`, judge them, and write the rows to `folder`.

        Turns and rows that an earlier process wrote there are reused.
        """
        folder.mkdir(parents=True, exist_ok=True)
        with RowStore(folder / "turns.jsonl") as turns, RowStore(folder / "rows.jsonl") as rows:
            answered = Turns(self.tasks.dialogues, "assistant", speaker, self.config.answers, turns, self._graded)
            answered.generate(progress.silent)
            spoken = Turns(answered, "user", speaker, self.config.sampling, turns)
            spoken.generate(progress.silent)
            for row in decide((row for row in spoken if rows.missing(row.id)), self.judge):
                rows.append(row.id, row)
            return Measured(summarise(rows))

    def _graded(self, dialogue: Dialogue) -> Dialogue:
        return replace(dialogue, correct=self.tasks.checks[dialogue.task](dialogue))


def open_probe(config: ProbeConfig, training: Iterable[TrainingRow]) -> HeldOutProbe:
    """The probe of `config`, whose rows must not overlap with `training`.

    Raises:
        ConfigError: data or judge cannot be opened, or a conversation of the probe starts like one that is trained on.
    """
    opened = ResourceCache()
    tasks = opened.tasks(config)
    seen = {_opening(row.dialogue): row.place for row in training}
    known = [dialogue for dialogue in tasks.dialogues if _opening(dialogue) in seen]
    if known:
        counts = ", ".join(f"{count} of {task}" for task, count in Counter(row.task for row in known).items())
        raise ConfigError(
            f"the probe is not held out: {counts} start with a question that is trained on, such as "
            f"{seen[_opening(known[0])]}; take other probe.tasks, or train on other data"
        )
    return HeldOutProbe(config, tasks, opened.judge(config))


def _opening(dialogue: Dialogue) -> str:
    """The first user turn, normalized for whitespace and case."""
    return " ".join(next((m.text for m in dialogue.messages if m.role == "user"), "").lower().split())
