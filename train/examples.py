"""A dialogue as training examples: token ids, and labels on the turns that are trained.

What is rendered and labelled is the chat format's doing (`ChatFormat.example`); this file says which conversations are
given to it. It knows no file, no model and no trainer.

A user turn stands under the same header in any conversation that goes on after it, so all user turns of a dialogue are
one example. An assistant turn that another turn follows stands under its history header, which in some families is
not the one that generation starts from; so each is trained in an example of its own, cut after it, where it is the
last. With `both`, a dialogue gives the examples of both: no turn is trained twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval.dialogue import Dialogue, Message
from eval.rendering.chat_format import IGNORED, ChatFormat, TrainOn


@dataclass(frozen=True)
class TrainingExample:
    """Ids and labels of equal length, which end with the last trained token: nothing behind it bears on the loss."""

    id: str
    """Of the dialogue, with the turn (counted from 1) for an example of one assistant turn: "0f3a#2"."""
    input_ids: Sequence[int]
    labels: Sequence[int]
    weight: float = 1.0
    """Factor of the loss of each of its tokens."""

    @property
    def trained(self) -> int:
        """Tokens with a label."""
        return sum(label != IGNORED for label in self.labels)


def training_examples(
    dialogue: Dialogue, chat_format: ChatFormat, train_on: TrainOn, weight: float = 1.0
) -> list[TrainingExample]:
    """The examples that train every turn of `train_on` in `dialogue` exactly once.

    Raises:
        ValueError: the turns do not alternate, the template refuses them, or no token would be trained.
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
        raise ValueError(f"no token is trained on: it has no turn of {train_on!r} that could be")
    return examples


def _user_turns(messages: Sequence[Message], chat_format: ChatFormat) -> tuple[list[int], list[int]]:
    """`messages` up to the last user turn, with every user turn labelled that follows an answer."""
    end = max((turn for turn, message in enumerate(messages, start=1) if message.role == "user"), default=0)
    return chat_format.example(messages[:end], "user") if end else ([], [])


def _cuts(messages: Sequence[Message]) -> Iterator[tuple[int, Sequence[Message]]]:
    """The dialogue up to each assistant turn, with the number of that turn."""
    for turn, message in enumerate(messages, start=1):
        if message.role == "assistant":
            yield turn, messages[:turn]


def _last_turn(messages: Sequence[Message], chat_format: ChatFormat) -> tuple[list[int], list[int]]:
    """`messages`, which end in an assistant turn, with that turn alone labelled.

    It begins behind the last user turn. Where that is an opening question, which has no labels, there is no earlier
    answer either.
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
