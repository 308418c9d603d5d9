"""The examples a run trains on, from its conversations and its replay data, and counts of what was left out and why.

Nothing is left out silently: `Mixture.left_out` counts every row and example of the files that is not trained on.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.rendering.chat_format import ChatFormat, TrainOn
from train.examples import TrainingExample, training_examples
from train.training_rows import RowFile, TrainingRow

Source = Literal["conversations", "replay"]


@dataclass(frozen=True)
class Mixture:
    """The examples of a run by source, and counts of what was left out."""

    examples: dict[Source, list[TrainingExample]]
    left_out: Counter[tuple[Source, str]] = field(default_factory=Counter)
    """By source and reason."""

    @property
    def all(self) -> list[TrainingExample]:
        """Every example, conversations first."""
        return [example for examples in self.examples.values() for example in examples]


def mix(
    conversations: RowFile,
    replay: RowFile | None,
    chat_format: ChatFormat,
    *,
    train_on: TrainOn,
    max_length: int,
    share: float = 0.0,
    weight: float = 1.0,
    seed: int = 0,
) -> Mixture:
    """All examples of `conversations`, and enough of `replay` to make up `share` of the total.

    Replay rows are drawn with `seed`; if there are too few, all are used.

    Raises:
        ConfigError: a row cannot be turned into an example (names its id and place), or nothing is left to train on.
    """
    left_out: Counter[tuple[Source, str]] = Counter()
    own = list(_conversations(conversations.rows, chat_format, train_on, max_length, left_out))
    if not own:
        raise ConfigError(f"{conversations.path} leaves nothing to train on: {_summary(left_out, 'conversations')}")
    examples: dict[Source, list[TrainingExample]] = {"conversations": own}
    if replay is not None:
        solutions = list(_solutions(replay.rows, chat_format, weight, max_length, left_out))
        if not solutions:
            raise ConfigError(f"replay {replay.path} has no right answer to train on: {_summary(left_out, 'replay')}")
        random.Random(seed).shuffle(solutions)
        wanted = round(len(own) * share / (1 - share))
        left_out["replay", "beyond the share"] += max(0, len(solutions) - wanted)
        left_out["replay", "short of the share"] += max(0, wanted - len(solutions))
        examples["replay"] = solutions[:wanted]
    return Mixture(examples, +left_out)


def _conversations(
    rows: Sequence[TrainingRow],
    chat_format: ChatFormat,
    train_on: TrainOn,
    max_length: int,
    left_out: Counter[tuple[Source, str]],
) -> Iterator[TrainingExample]:
    roles = ("user", "assistant") if train_on == "both" else (train_on,)
    for row in rows:
        dialogue = row.dialogue
        if dialogue.failure is not None:
            left_out["conversations", f"failed to {dialogue.failure.stage}"] += 1
        elif any(message.finish == "length" for message in dialogue.messages if message.role in roles):
            left_out["conversations", "a trained turn was cut off"] += 1
        else:
            made = _examples(row, dialogue, chat_format, train_on, 1.0)
            yield from _short_enough(made, max_length, left_out, "conversations")


def _solutions(
    rows: Sequence[TrainingRow],
    chat_format: ChatFormat,
    weight: float,
    max_length: int,
    left_out: Counter[tuple[Source, str]],
) -> Iterator[TrainingExample]:
    """The last answer of each row that is graded correct; the grade refers to that answer."""
    for row in rows:
        dialogue = row.dialogue
        answer = dialogue.last("assistant")
        if dialogue.correct is not True or answer is None:
            left_out["replay", "graded wrong" if dialogue.correct is False else "not graded"] += 1
        elif answer.finish == "length":
            left_out["replay", "a trained turn was cut off"] += 1
        else:
            end = max(turn for turn, message in enumerate(dialogue.messages, start=1) if message is answer)
            cut = Dialogue(dialogue.task, dialogue.messages[:end], id=dialogue.id)
            made = _examples(row, cut, chat_format, "assistant", weight)[-1:]
            yield from _short_enough(made, max_length, left_out, "replay")


def _examples(
    row: TrainingRow, dialogue: Dialogue, chat_format: ChatFormat, train_on: TrainOn, weight: float
) -> list[TrainingExample]:
    try:
        return training_examples(dialogue, chat_format, train_on, weight)
    except ValueError as error:
        raise ConfigError(f"{row.place} (id {dialogue.id}): {error}") from error


def _short_enough(
    examples: list[TrainingExample], max_length: int, left_out: Counter[tuple[Source, str]], source: Source
) -> Iterator[TrainingExample]:
    for example in examples:
        if len(example.input_ids) <= max_length:
            yield example
        else:
            left_out[source, f"longer than {max_length} tokens"] += 1


def _summary(left_out: Counter[tuple[Source, str]], source: Source) -> str:
    return ", ".join(f"{count} {of}: {reason}" for (of, reason), count in left_out.items() if of == source)
