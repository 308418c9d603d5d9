"""Turns a dialogue into training examples: token ids, with labels on the turns that are trained.

Rendering and labelling is done by the chat format (`ChatFormat.example`); this file decides what conversations it gets.
Knows no file, no model and no trainer.

A user turn has the same header in every conversation that continues after it, so all user turns of a dialogue form one
example. An assistant turn that is followed by another turn has its history header, which in some families differs from
the header that generation starts from; so each assistant turn is trained in its own example, which ends with it. With
`both`, a dialogue gives the examples of both roles, and no turn is trained twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.dialogue import Dialogue, Message
from eval.rendering.chat_format import IGNORED, ChatFormat, TrainOn


@dataclass(frozen=True)
class TrainingExample:
    """Ids and labels of equal length, ending with the last trained token: later tokens would not affect the loss."""

    id: str
    """The dialogue's id, plus the turn (counted from 1) for an example of one assistant turn: "0f3a#2"."""
    input_ids: Sequence[int]
    labels: Sequence[int]
    weight: float = 1.0
    """Factor on the loss of each token."""

    @property
    def trained(self) -> int:
        """Number of tokens with a label."""
        return sum(label != IGNORED for label in self.labels)


def training_examples(
    dialogue: Dialogue, chat_format: ChatFormat, train_on: TrainOn, weight: float = 1.0
) -> list[TrainingExample]:
    """The examples that train every turn of `train_on` in `dialogue` exactly once.

    Raises:
        ValueError: the turns do not alternate, the template rejects them, or no token would be trained.
    """
    messages = dialogue.messages
    _check_turns(messages)
    labelled: list[tuple[str, list[int], list[int]]] = []
    if train_on != "assistant":
        labelled += [(dialogue.id, *_user_turns(messages, chat_format))]
    if train_on != "user":
        labelled += [(f"{dialogue.id}#{turn}", *_last_turn(cut, chat_format)) for turn, cut in _cuts(messages)]
    examples = [
        TrainingExample(id, *_trimmed(ids, labels), weight) for id, ids, labels in labelled if set(labels) - {IGNORED}
    ]
    if not examples:
        raise ValueError(f"no token is trained on: it has no trainable turn for train_on {train_on!r}")
    return examples


def _user_turns(messages: Sequence[Message], chat_format: ChatFormat) -> tuple[list[int], list[int]]:
    """`messages` up to the last user turn, with labels on every user turn that follows an answer."""
    end = max((turn for turn, message in enumerate(messages, start=1) if message.role == "user"), default=0)
    return chat_format.example(messages[:end], "user") if end else ([], [])


def _cuts(messages: Sequence[Message]) -> Iterator[tuple[int, Sequence[Message]]]:
    """For each assistant turn, its number and the dialogue up to it."""
    for turn, message in enumerate(messages, start=1):
        if message.role == "assistant":
            yield turn, messages[:turn]


def _last_turn(messages: Sequence[Message], chat_format: ChatFormat) -> tuple[list[int], list[int]]:
    """`messages`, which end with an assistant turn, with labels on that turn only.

    The turn begins after the last labelled user turn. An opening question has no labels, but then no earlier answer
    exists either.
    """
    ids, labels = chat_format.example(messages, "assistant")
    _, of_user = chat_format.example(messages, "user")
    begin = max((position + 1 for position, label in enumerate(of_user) if label != IGNORED), default=0)
    return ids, [IGNORED] * begin + labels[begin:]


def _trimmed(ids: list[int], labels: list[int]) -> tuple[list[int], list[int]]:
    end = max(position for position, label in enumerate(labels, start=1) if label != IGNORED)
    return ids[:end], labels[:end]


def _check_turns(messages: Sequence[Message]) -> None:
    turns = [message.role for message in messages if message.role != "system"]
    for turn, role in enumerate(turns):
        if role != ("user", "assistant")[turn % 2]:
            raise ValueError(f"its turns are {', '.join(turns)}; user and assistant must alternate, the user first")
