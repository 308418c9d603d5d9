"""How a conversation is spoken to a model: roles and texts in, token ids out, and back.

The one place that renders: the probe, SFT and RL all speak through a `ChatFormat`, so a turn is opened with the same
ids everywhere. What stands around the texts comes from the tokenizer's own chat template and is tokenized with its
control tokens; texts are tokenized as plain text, whatever they hold. What a family adds (its stop tokens, its
template's variables) is one file in `eval/formats/`; this file knows no family.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from eval.dialogue import Message, Role
from eval.plain_text import PlainText
from eval.turn_layout import History, Layout, TurnTemplate

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TrainOn = Literal["user", "assistant", "both"]

IGNORED = -100
"""The label that torch's cross entropy leaves out."""
CHECKED: tuple[tuple[Role, ...], ...] = (
    ("user",),
    ("user", "assistant"),
    ("user", "assistant", "user"),
    ("user", "assistant", "user", "assistant"),
    ("system", "user"),
    ("system", "user", "assistant", "user"),
)
"""Conversations that a template must get right before anything is measured with it."""


class ChatFormat:
    """Speak conversations in the chat template that a tokenizer carries.

    `history` says how an assistant turn is rendered when a user turn is opened after it: "as_history", as the past
    turn it is in the conversation to come, or "as_last", as the last turn of the conversation so far, which is what
    rendering the messages and appending a header gives. They differ in families that put a think block or another
    closing token into the last assistant turn.

    Raises:
        ValueError: no chat template, no stop token of this family in the vocabulary, or a template that drops a
            message, lacks the prefix property or tokenizes differently in pieces; the message says which.
    """

    name: ClassVar[str]
    stops: ClassVar[Mapping[str, tuple[str, ...]]]
    """For each role that can be generated, the tokens that end its turn; those that the tokenizer has are used."""
    template_variables: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, tokenizer: PreTrainedTokenizerBase, history: History = "as_history") -> None:
        if history not in get_args(History):
            raise ValueError(f"history is {history!r}; it can be {' or '.join(get_args(History))}")
        source = tokenizer.name_or_path or type(tokenizer).__name__
        if not tokenizer.chat_template:
            raise ValueError(
                f"{source} has no chat template; use the folder of an instruction-tuned model, "
                "with chat_template.jinja or with chat_template in its tokenizer_config.json"
            )
        self.tokenizer = tokenizer
        self.history = history
        self.template_sha = hashlib.sha256(tokenizer.get_chat_template().encode()).hexdigest()
        """SHA-256 of the template's text."""
        self._where = f"the chat template of {source}"
        self._template = TurnTemplate(self._run_template, history, self._where)
        self._plain = PlainText(tokenizer)
        self._piece_ids: dict[str, list[int]] = {}
        self._stop_ids = {role: self._known(tokens, source) for role, tokens in self.stops.items()}
        self._check()

    def open_turn(self, messages: Sequence[Message], role: str) -> list[int]:
        """The ids of `messages` ending in the exact header of the next turn, which the model will speak as `role`.

        With `history="as_history"` they are a prefix of `ids([*messages, Message(role, text)])`, whatever the text. An
        assistant turn is opened by the template's own generation prompt.

        Raises:
            ValueError: no turn of `role` can be generated, or the template refuses these roles.
        """
        self.stop_ids(role)
        layout = self._template.opened(tuple(message.role for message in messages), role)
        return [token for part in self._parts(layout, messages) for token in part]

    def ids(self, messages: Sequence[Message]) -> list[int]:
        """The ids of a whole conversation, closed as the template closes it."""
        return [token for part in self._parts(self._closed(messages), messages) for token in part]

    def render(self, messages: Sequence[Message]) -> str:
        """The text of a whole conversation, for people; a text that looks like a control token looks the same."""
        layout = self._closed(messages)
        texts = [layout.fit(turn, message.text) for turn, message in enumerate(messages)]
        return layout.pieces[0] + "".join(text + piece for text, piece in zip(texts, layout.pieces[1:], strict=True))

    def example(self, messages: Sequence[Message], train_on: TrainOn) -> tuple[list[int], list[int]]:
        """Ids and labels, of equal length: the label span of a trained turn is its text and its closing stop token.

        Every other label is -100. A user turn is trained if it comes after an assistant turn: an opening question
        answers nothing. An assistant turn that a user turn follows stands under its history header, which in some
        families is not the one that generation starts from; to train it there, give the conversation up to it.
        """
        if train_on not in get_args(TrainOn):
            raise ValueError(f"train_on is {train_on!r}; it can be {', '.join(get_args(TrainOn))}")
        opening, *parts = self._parts(self._closed(messages), messages)
        ids, labels = list(opening), [IGNORED] * len(opening)
        roles = [message.role for message in messages]
        for turn, role in enumerate(roles):
            text, piece = parts[2 * turn : 2 * turn + 2]
            trained = role == "assistant" or (role == "user" and "assistant" in roles[:turn])
            learned = [*text, *self._closer(role, piece)] if trained and train_on in (role, "both") else []
            ids += [*text, *piece]
            labels += learned + [IGNORED] * (len(text) + len(piece) - len(learned))
        return ids, labels

    def stop_ids(self, role: str) -> frozenset[int]:
        """The ids that end a generated turn of `role`."""
        if role not in self._stop_ids:
            raise ValueError(
                f"no turn of role {role!r} can be generated; the role can be {' or '.join(self._stop_ids)}"
            )
        return self._stop_ids[role]

    def clean(self, ids: Sequence[int], role: str) -> tuple[str, Literal["stop", "length"]]:
        """The text of a generated turn up to its first stop id, other control tokens kept, and how the turn ended."""
        stops = self.stop_ids(role)
        end = next((position for position, token in enumerate(ids) if token in stops), None)
        text = self.tokenizer.decode(list(ids[:end]), skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return str(text), "length" if end is None else "stop"

    def _closed(self, messages: Sequence[Message]) -> Layout:
        return self._template.closed(tuple(message.role for message in messages))

    def _run_template(self, turns: list[dict[str, str]], add_generation_prompt: bool) -> str:
        rendered = self.tokenizer.apply_chat_template(
            turns, tokenize=False, add_generation_prompt=add_generation_prompt, **self.template_variables
        )
        return str(rendered)

    def _parts(self, layout: Layout, messages: Sequence[Message]) -> list[list[int]]:
        """Ids of piece, text, piece, ..., piece. The lists of pieces are shared: do not change them."""
        parts = [self._piece(layout.pieces[0])]
        for turn, message in enumerate(messages):
            parts.append(self._plain.encode(layout.fit(turn, message.text)))
            parts.append(self._piece(layout.pieces[turn + 1]))
        return parts

    def _piece(self, piece: str) -> list[int]:
        if piece not in self._piece_ids:
            self._piece_ids[piece] = self.tokenizer.encode(piece, add_special_tokens=False)
        return self._piece_ids[piece]

    def _closer(self, role: str, piece: Sequence[int]) -> Sequence[int]:
        """The ids after a text that end its turn: up to the first stop id, none if the template writes no stop id."""
        stops = self.stop_ids(role)
        return piece[: next((position + 1 for position, token in enumerate(piece) if token in stops), 0)]

    def _known(self, tokens: Sequence[str], source: str) -> frozenset[int]:
        vocabulary = self.tokenizer.get_vocab()
        known = frozenset(vocabulary[token] for token in tokens if token in vocabulary)
        if not known:
            raise ValueError(f"{source} has no token {' or '.join(tokens)}, so its family is not {self.name}")
        return known

    def _check(self) -> None:
        """Raise if the template gets one of a few small conversations wrong."""
        for roles in CHECKED:
            messages = [Message(role, f"Text {turn}") for turn, role in enumerate(roles)]
            ids, text = self.ids(messages), self.render(messages)
            given = f"{self._where} fails on the turns [{', '.join(roles)}]"
            if text != self._run_template([{"role": m.role, "content": m.text} for m in messages], False):
                raise ValueError(f"{given}: what it writes around the texts depends on the texts")
            if ids != self.tokenizer.encode(text, add_special_tokens=False):
                raise ValueError(f"{given}: its pieces and texts have other ids alone than together")
            for turn, role in enumerate(roles):
                opened = self.open_turn(messages[:turn], role) if role == "user" or turn == len(roles) - 1 else []
                if self.history == "as_history" and ids[: len(opened)] != opened:
                    raise ValueError(
                        f"{given}: the prefix property does not hold, the ids that open turn {turn} ({role}) do not "
                        "begin the ids of the whole conversation"
                    )
        _, after_question, _ = self._closed([Message("user", ""), Message("assistant", "")]).pieces
        if not self._closer("user", self._piece(after_question)):
            raise ValueError(f"{self._where} writes no stop token of format {self.name} after a user turn")
