"""Whether the rows of the tasks can be read; the error for a gated data set has the command that downloads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from eval import plugin
from eval.checks.finding import Check, Finding, passed
from eval.probe_config import ProbeConfig
from eval.resources import Tasks, load_tasks


class TaskData:
    """The rows of each task of a probe, read once."""

    def __init__(self, config: ProbeConfig) -> None:
        self._config = config
        self._read: dict[str, Tasks] = {}

    @property
    def checks(self) -> list[Check]:
        """A check "data NAME" for each task."""
        return [Check(f"data {name}", self._look(name)) for name in self._config.tasks]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the checks."""
        return tuple(f"data {name}" for name in self._config.tasks)

    @property
    def all(self) -> Tasks:
        """The rows of all tasks; raises like the checks."""
        read = [self._of(name) for name in self._config.tasks]
        dialogues = [dialogue for tasks in read for dialogue in tasks.dialogues]
        return Tasks(dialogues, {name: check for tasks in read for name, check in tasks.checks.items()})

    def _of(self, name: str) -> Tasks:
        if name not in self._read:
            one = {name: self._config.tasks[name]}
            self._read[name] = load_tasks(self._config.model_copy(update={"tasks": one}))
        return self._read[name]

    def _look(self, name: str) -> Callable[[], Finding]:
        def look() -> Finding:
            dialogues = self._of(name).dialogues
            skipped = Counter(dialogue.failure.kind for dialogue in dialogues if dialogue.failure)
            gated = ", gated: its text stays in the run's own rows" if _is_gated(name) else ""
            left = f", {dict(skipped)} left out" if skipped else ""
            return passed(f"{len(dialogues):,} rows{left}{gated}")

        return look


def _is_gated(name: str) -> bool:
    return bool(plugin.load("eval.tasks", name).SOURCE.gated)
