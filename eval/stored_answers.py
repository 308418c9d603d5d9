"""The answers of another run, for the cross condition (user turns of one model on another's answers) and for sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure
from eval.finished_runs import read_run
from eval.summary import answer_of


def asks(dialogue: Dialogue) -> bool:
    """Whether a model has to answer it: it did not fail to load, has no real user turn and no response from data."""
    return dialogue.failure is None and not dialogue.real_user and dialogue.messages[-1].role == "user"


class StoredAnswers:
    """Adds to each dialogue the answer that a finished run folder has for it.

    Raises:
        ConfigError: the run is missing or unfinished, or its answers were perturbed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            run = read_run(folder)
            rows = ((row, answer_of(row)) for row in run.rows())
            self._answers = {row.id: (answer, row.correct) for row, answer in rows if answer and answer.by != "data"}
        except ConfigError as error:
            raise ConfigError(f"answers_from: {error}") from error
        if run.perturbed:
            raise ConfigError(f"answers_from: {folder} has perturbed answers; name a run without a perturbation")
        self.protocol = {part: run.protocol[part] for part in ("answers_from", "answers", "answers_sha")}
        """The part of a run's protocol that describes these answers."""
        self.protocol["answers_from"] = run.protocol["answers_from"] or run.protocol["model"]

    def are_of(self, model: str) -> bool:
        """Whether the model with this id gave the answers."""
        return bool(self.protocol["answers_from"] == model)

    def asked(self, dialogues: Sequence[Dialogue]) -> list[Dialogue]:
        """Those that a model answers; only they make a cross condition: a response from the data is every model's.

        Raises:
            ConfigError: there is none.
        """
        found = list(filter(asks, dialogues))
        if not found:
            raise ConfigError("answers_from: every row of these tasks has its response from the data; leave it out")
        return found

    def __call__(self, dialogue: Dialogue) -> Dialogue:
        """`dialogue` with the stored answer and its grade; one that ends in an answer from the data is unchanged."""
        if dialogue.messages[-1].role == "assistant":
            return dialogue
        if dialogue.id not in self._answers:
            missing = Failure("generate", "no_stored_answer", f"{self.folder} has no answer to this row")
            return replace(dialogue, failure=missing)
        answer, correct = self._answers[dialogue.id]
        return replace(dialogue.says(answer), correct=correct)
