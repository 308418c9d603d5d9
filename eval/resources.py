"""Opens data, models and judges of configurations once, so that several probes share them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from eval import plugin
from eval.config import ConfigError
from eval.dialogue import Dialogue, content_hash
from eval.judge import Judge
from eval.probe_config import ProbeConfig
from eval.rendering.model_format import open_chat_format
from eval.speaker import Speaker
from eval.training_record import read_training_record
from eval.weights import model_folder, model_id

Check = Callable[[Dialogue], bool | None]


@dataclass(frozen=True)
class Tasks:
    """The rows of the chosen tasks, and their graders."""

    dialogues: list[Dialogue]
    checks: dict[str, Check]
    """The grader of each `Dialogue.task`."""


class ResourceCache:
    """Opens what a configuration names, or returns what is open already. Holds the weights of one model at a time."""

    def __init__(self) -> None:
        self._tasks: dict[str, Tasks] = {}
        self._speakers: dict[str, Speaker] = {}
        self._judges: dict[str, Judge] = {}

    def tasks(self, config: ProbeConfig) -> Tasks:
        """The rows of the chosen tasks.

        Raises:
            ConfigError: data are missing or malformed, or a task has no row with these options.
        """
        named = _named(config, "tasks", "seed", "data_dir")
        if named not in self._tasks:
            self._tasks[named] = load_tasks(config)
        return self._tasks[named]

    def speaker(self, config: ProbeConfig) -> Speaker:
        """The model with its chat format and a new token count; weights are read when it generates its first turn.

        Raises:
            ConfigError: the model is incomplete, or its tokenizer does not fit the format.
        """
        named = _named(config, "model", "revision", "format", "history", "engine")
        if named not in self._speakers:
            self._speakers.clear()
            self._speakers[named] = open_speaker(config)
        return replace(self._speakers[named], tokens=Counter())

    def judge(self, config: ProbeConfig) -> Judge:
        """The judge, and with it its budget.

        Raises:
            ConfigError: a setting of the judge cannot work.
        """
        named = _named(config, "judge")
        if named not in self._judges:
            self._judges[named] = plugin.load("eval.judges", config.judge.name).Judge(**config.judge.options)
        return self._judges[named]


def _named(config: ProbeConfig, *fields: str) -> str:
    """A key that is equal for configurations with equal `fields`."""
    return content_hash(config.model_dump(mode="json", include=set(fields)))


def load_tasks(config: ProbeConfig) -> Tasks:
    """The rows of the chosen tasks, read from their files."""
    dialogues: list[Dialogue] = []
    checks: dict[str, Check] = {}
    for name, options in config.tasks.items():
        task = plugin.load("eval.tasks", name)
        try:
            loaded = task.load(seed=config.seed, data_dir=config.data_dir, **options)
        except (OSError, ValueError) as error:
            raise ConfigError(f"tasks.{name}: {error}") from error
        if not loaded:
            raise ConfigError(f"tasks.{name} has no rows; check its options")
        dialogues += loaded
        checks |= {dialogue.task: task.check for dialogue in loaded}
    repeated = [id for id, times in Counter(dialogue.id for dialogue in dialogues).items() if times > 1]
    if repeated:
        raise ConfigError(f"{len(repeated)} rows occur twice in the data, first {repeated[0]}; remove the copies")
    return Tasks(dialogues, checks)


def open_speaker(config: ProbeConfig) -> Speaker:
    """The model of `config` with its chat format; weights are read when the first turn is generated."""
    folder = model_folder(config.model, config.revision)
    chat_format = open_chat_format(folder, config.format, config.history)
    try:
        engine = plugin.load("eval.engines", config.engine.name).Engine(folder, **config.engine.options)
    except ConfigError:
        raise
    except (OSError, ValueError) as error:
        raise ConfigError(f"model {folder} with engine {config.engine.name}: {error}") from error
    return Speaker(engine, chat_format, model_id(Path(config.model).name, folder), read_training_record(folder))
