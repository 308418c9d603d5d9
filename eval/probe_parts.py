"""What a probe works with, made from its configuration: dialogues, graders, speaker, judge, and the protocol of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from eval import plugin
from eval.config import ConfigError
from eval.dialogue import Dialogue, content_hash
from eval.judge import Judge
from eval.perturb import PERTURBATIONS, Perturbation
from eval.probe_config import ProbeConfig
from eval.speaker import Speaker
from eval.stored_answers import StoredAnswers

Check = Callable[[Dialogue], bool | None]


@dataclass(frozen=True)
class Parts:
    """The opened parts of one probe."""

    config: ProbeConfig
    dialogues: list[Dialogue]
    checks: dict[str, Check]
    """The grader of each `Dialogue.task`."""
    speaker: Speaker
    judge: Judge
    perturbation: Perturbation | None
    stored: StoredAnswers | None
    """Where answers come from that the model does not generate here."""

    @cached_property
    def protocol(self) -> dict[str, Any]:
        """What rows must share to be added up."""
        config, chat_format = self.config, self.speaker.chat_format
        return {
            "model": self.speaker.model_id,
            "format": chat_format.name,
            "format_options": dict(chat_format.options),
            "template_sha": chat_format.template_sha,
            "history": chat_format.history,
            "engine": config.engine.name,
            "dtype": self.speaker.engine.dtype,
            "sampling": config.sampling.model_dump(),
            **self._answers_protocol,
            "perturbation": config.perturbation.model_dump() if config.perturbation else None,
            "judge": self.judge.id,
        }

    @property
    def _answers_protocol(self) -> dict[str, Any]:
        """Whose answers the user turns react to, and how those were made."""
        if self.stored:
            return self.stored.protocol
        answers = self.config.answers.model_dump()
        sha = content_hash([self.config.engine.name, *self.speaker.voice, answers])
        return {"answers_from": None, "answers": answers, "answers_sha": sha}

    @property
    def selection(self) -> dict[str, Any]:
        """Which rows of the data a run folder holds, limits aside: a run may grow, and not change its data."""
        tasks: dict[str, dict[str, Any]] = {}
        for name, options in self.config.tasks.items():
            chosen = {option: value for option, value in options.items() if option != "limit"}
            tasks[name] = {"version": plugin.load("eval.tasks", name).VERSION, **chosen}
        return {"seed": self.config.seed, "tasks": tasks}

    def grade(self, dialogue: Dialogue) -> Dialogue:
        """`dialogue` with its task's verdict on the answer."""
        return replace(dialogue, correct=self.checks[dialogue.task](dialogue))

    def key(self, dialogue: Dialogue) -> str:
        """The key of a finished row: the protocol, and the dialogue as it was loaded."""
        return content_hash([self._protocol_sha, dialogue.id])

    @cached_property
    def _protocol_sha(self) -> str:
        return content_hash(self.protocol)


def open_parts(config: ProbeConfig, speaker: Speaker | None = None, judge: Judge | None = None) -> Parts:
    """Open what `config` names; a speaker or judge that is given is taken as it is, so that several probes share it.

    Raises:
        ConfigError: data, model, judge or stored answers are missing, malformed or do not fit together.
    """
    dialogues, checks = load_tasks(config)
    speaker = speaker or open_speaker(config)
    perturbation = None
    if config.perturbation is not None:
        make = PERTURBATIONS[config.perturbation.name]
        perturbation = make(speaker.chat_format.tokenizer, **config.perturbation.options)
    judge = judge or open_judge(config)
    stored = StoredAnswers(config.answers_from) if config.answers_from else None
    return Parts(config, dialogues, checks, speaker, judge, perturbation, stored)


def open_judge(config: ProbeConfig) -> Judge:
    """The judge of `config`."""
    judge: Judge = plugin.load("eval.judges", config.judge.name).Judge(**config.judge.options)
    return judge


def load_tasks(config: ProbeConfig) -> tuple[list[Dialogue], dict[str, Check]]:
    """The dialogues of the chosen tasks, and the grader of each `Dialogue.task`."""
    dialogues: list[Dialogue] = []
    checks: dict[str, Check] = {}
    for name, options in config.tasks.items():
        task = plugin.load("eval.tasks", name)
        try:
            loaded = task.load(seed=config.seed, data_dir=config.data_dir, **options)
        except (OSError, ValueError) as error:
            raise ConfigError(f"tasks.{name}: {error}") from error
        dialogues += loaded
        checks |= {dialogue.task: task.check for dialogue in loaded}
    repeated = [id for id, times in Counter(dialogue.id for dialogue in dialogues).items() if times > 1]
    if repeated:
        raise ConfigError(f"{len(repeated)} rows occur twice in the data, first {repeated[0]}; remove the copies")
    return dialogues, checks


def open_speaker(config: ProbeConfig) -> Speaker:
    """The model of `config` with its chat format; weights are read when the first turn is generated."""
    from transformers import AutoTokenizer

    from eval.weights import model_digest, model_folder

    folder = model_folder(config.model, config.revision)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        family = plugin.load("eval.formats", config.format.name).Format
        chat_format = family(tokenizer, history=config.history, **config.format.options)
        engine = plugin.load("eval.engines", config.engine.name).Engine(folder, **config.engine.options)
    except ConfigError:
        raise
    except (OSError, ValueError) as error:
        raise ConfigError(f"model {folder} with format {config.format.name}: {error}") from error
    return Speaker(engine, chat_format, model_id=f"{Path(config.model).name}@{model_digest(folder)[:12]}")
