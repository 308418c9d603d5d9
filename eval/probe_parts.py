"""The components of a probe, opened from its configuration: dialogues, graders, speaker and judge; and its protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from eval import plugin
from eval.dialogue import Dialogue, content_hash
from eval.judge import Judge
from eval.perturb import PERTURBATIONS, Perturbation
from eval.probe_config import ProbeConfig
from eval.resources import ResourceCache, Tasks
from eval.shard import Shard, ShardRows
from eval.speaker import Speaker
from eval.stored_answers import StoredAnswers


@dataclass(frozen=True)
class ProbeParts:
    """The opened parts of one probe."""

    config: ProbeConfig
    tasks: Tasks
    speaker: Speaker
    judge: Judge
    perturbation: Perturbation | None
    stored: StoredAnswers | None
    """The source of answers that the model does not generate in this run."""
    shard: ShardRows | None = None
    """The rows of the shard, if the configuration has one."""

    @cached_property
    def protocol(self) -> dict[str, Any]:
        """The settings that rows must share to be pooled."""
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
        """Whose answers the user turns follow, and how those were generated."""
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
        return replace(dialogue, correct=self.tasks.checks[dialogue.task](dialogue))

    def key(self, dialogue: Dialogue) -> str:
        """The key of a finished row: the protocol, and the dialogue as it was loaded."""
        return row_key(self._protocol_sha, dialogue.id)

    @cached_property
    def _protocol_sha(self) -> str:
        return content_hash(self.protocol)


def row_key(protocol_sha: str, dialogue_id: str) -> str:
    """The key of a finished row, from the hashes of its protocol and of its dialogue."""
    return content_hash([protocol_sha, dialogue_id])


def open_parts(config: ProbeConfig, opened: ResourceCache) -> ProbeParts:
    """What `config` names, with data, model and judge from `opened`.

    Raises:
        ConfigError: data, model, judge or stored answers are missing, malformed or do not fit together.
    """
    tasks, shard = opened.tasks(config), None
    speaker = opened.speaker(config)
    stored = StoredAnswers(config.answers_from) if config.answers_from else None
    if stored and not stored.are_of(speaker.model_id):
        tasks = replace(tasks, dialogues=stored.asked(tasks.dialogues))
    if config.shard:
        shard = ShardRows.of(Shard.parse(config.shard), tasks.dialogues)
        tasks = replace(tasks, dialogues=shard.shard.of_rows(tasks.dialogues))
    perturbation = None
    if config.perturbation is not None:
        make = PERTURBATIONS[config.perturbation.name]
        perturbation = make(speaker.chat_format.tokenizer, **config.perturbation.options)
    judge = opened.judge(config)
    return ProbeParts(config, tasks, speaker, judge, perturbation, stored, shard)
