"""How a conversation is spoken to a model: roles and texts in, token ids out, and back.

The one place that renders: the probe, SFT and RL all speak through a `ChatFormat`, so a turn is opened with the same
ids everywhere. What stands around the texts comes from the tokenizer's own chat template and is tokenized with its
control tokens; texts are tokenized as plain text, whatever they hold. What a family adds (its stop tokens, its
template's variables, where its reasoning ends) is one file in `eval/formats/`; this file knows no family.

Reasoning is kept apart from text. It is written in the last assistant turn of a whole conversation alone, by families
that reason; no turn is ever opened after it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_args

from eval.dialogue import Message, Role
from eval.rendering.plain_text import PlainText
from eval.rendering.turn_layout import History, Layout, TurnTemplate

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


class Utterance(NamedTuple):
    """What was said in one generated turn."""

    text: str
    reasoning: str | None
    """None: no word of reasoning."""
    finish: Literal["stop", "length"]
    """"length": cut off, or the reasoning never came to a text."""


class ChatFormat:
    """Speak conversations in the chat template that a tokenizer carries.

    `history` says how an assistant turn is rendered when a user turn is opened after it: "as_history", as the past
    turn it is in the conversation to come, or "as_last", as the last turn of the conversation so far, which is what
    rendering the messages and appending a header gives. They differ in families that put a think block or another
    closing token into the last assistant turn.

    Raises:
        ValueError: no chat template, no stop token or not every mark of this family in the vocabulary, or a template
            that drops a message, lacks the prefix property or tokenizes differently in pieces; the message says which.
    """

    name: ClassVar[str]
    stops: ClassVar[Mapping[str, tuple[str, ...]]]
    """For each role that can be generated, the tokens that end its turn; those that the tokenizer has are used."""
    marks: ClassVar[tuple[str, ...]] = ()
    """Further control tokens that every tokenizer of this family has, whether or not they are written."""
    closers: ClassVar[Mapping[str, str]] = {}
    """By role, the token that closes a last turn in families whose template leaves that to the next header."""
    reasoning_field: ClassVar[str] = "reasoning_content"
    """The key of a message under which the template takes an assistant's reasoning."""
    template_variables: Mapping[str, Any] = {}
    options: Mapping[str, Any] = {}
    """What is chosen or pinned for this family beyond `history`: rows of other options are of another protocol."""

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
        self._source = source
        self._where = f"the chat template of {source}"
        self._template = TurnTemplate(self._run_template, history, self._where, self.reasoning_field)
        self._plain = PlainText(tokenizer)
        self._piece_ids: dict[str, list[int]] = {}
        self._stop_ids = {role: self.known(tokens) for role, tokens in self.stops.items()}
        self._mark_ids = [token for mark in self.marks for token in self.known([mark])]
        self._check()

    def open_turn(self, messages: Sequence[Message], role: str) -> list[int]:
        """The ids of `messages` ending in the exact header of the next turn, which the model will speak as `role`.

        With `history="as_history"` they are a prefix of `ids([*messages, Message(role, ...)])`, whatever is said. An
        assistant turn is opened by the template's own generation prompt.

        Raises:
            ValueError: no turn of `role` can be generated, or the template refuses these roles.
        """
        self.stop_ids(role)
        layout = self._template.opened(tuple(message.role for message in messages), role)
        return [token for part in self._parts(layout, messages) for token in part]

    def ids(self, messages: Sequence[Message]) -> list[int]:
        """The ids of a whole conversation, closed as the template closes it or else by the family's closer."""
        return [token for part in self._parts(self._closed(messages), messages) for token in part]

    def render(self, messages: Sequence[Message]) -> str:
        """The text of a whole conversation, for people; a text that looks like a control token looks the same."""
        layout = self._closed(messages)
        texts = [slot.fill(messages) for slot in layout.slots]
        return layout.pieces[0] + "".join(text + piece for text, piece in zip(texts, layout.pieces[1:], strict=True))

    def example(self, messages: Sequence[Message], train_on: TrainOn) -> tuple[list[int], list[int]]:
        """Ids and labels, of equal length: the label span of a trained turn is its text and its closing stop token.

        In a last assistant turn it begins where generation does, so that reasoning and the marks behind it are in it.
        Every other label is -100. A user turn is trained if it comes after an assistant turn: an opening question
        answers nothing. An assistant turn that a user turn follows stands under its history header, which in some
        families is not the one that generation starts from; to train it there, give the conversation up to it.
        """
        if train_on not in get_args(TrainOn):
            raise ValueError(f"train_on is {train_on!r}; it can be {', '.join(get_args(TrainOn))}")
        layout = self._closed(messages)
        opening, *parts = self._parts(layout, messages)
        ids, labels = list(opening), [IGNORED] * len(opening)
        roles = [message.role for message in messages]
        for slot, text, piece in zip(layout.slots, parts[0::2], parts[1::2], strict=True):
            role = roles[slot.turn]
            ids += [*text, *piece]
            if train_on not in (role, "both") or role == "system" or "assistant" not in roles[: slot.turn + 1]:
                labels += [IGNORED] * (len(text) + len(piece))
            else:
                labels += [*text, *(self._closing_labels(role, piece) if slot.holds == "text" else piece)]
        return ids, labels

    def stop_ids(self, role: str) -> frozenset[int]:
        """The ids that end a generated turn of `role`."""
        if role not in self._stop_ids:
            raise ValueError(
                f"no turn of role {role!r} can be generated; the role can be {' or '.join(self._stop_ids)}"
            )
        return self._stop_ids[role]

    def clean(self, ids: Sequence[int], role: str) -> Utterance:
        """What a generated turn says up to its first stop id, other control tokens of its text kept."""
        stops = self.stop_ids(role)
        end = next((position for position, token in enumerate(ids) if token in stops), None)
        return self.read(list(ids[:end]), role, "length" if end is None else "stop")

    def read(self, ids: list[int], role: str, finish: Literal["stop", "length"]) -> Utterance:
        """What the ids of a turn before its stop id say: all text, unless the family tells reasoning from it."""
        return Utterance(self.decode(ids), None, finish)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, control tokens and white space kept."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def reasons_in(self, message: Message) -> bool:
        """Whether `message`, as the last turn of the assistant, is written with a reasoning, be it empty."""
        return False

    def _closed(self, messages: Sequence[Message]) -> Layout:
        roles = tuple(message.role for message in messages)
        reasoned = roles[-1:] == ("assistant",) and self.reasons_in(messages[-1])
        layout = self._template.closed(roles, reasoned)
        return replace(layout, pieces=(*layout.pieces[:-1], layout.pieces[-1] + self.closers.get(roles[-1], "")))

    def _run_template(self, turns: list[dict[str, str]], add_generation_prompt: bool) -> str:
        rendered = self.tokenizer.apply_chat_template(
            turns, tokenize=False, add_generation_prompt=add_generation_prompt, **self.template_variables
        )
        return str(rendered)

    def _parts(self, layout: Layout, messages: Sequence[Message]) -> list[list[int]]:
        """Ids of piece, text, piece, ..., piece. The lists of pieces are shared: do not change them.

        White space that a piece begins with is tokenized as the end of the text before it: in many vocabularies a full
        stop and a line break are one token.
        """
        parts = [self._piece(layout.pieces[0])]
        for slot, piece in zip(layout.slots, layout.pieces[1:], strict=True):
            frame = piece.lstrip()
            parts.append(self._plain.encode(slot.fill(messages) + piece.removesuffix(frame)))
            parts.append(self._piece(frame))
        return parts

    def _piece(self, piece: str) -> list[int]:
        if piece not in self._piece_ids:
            self._piece_ids[piece] = self.tokenizer.encode(piece, add_special_tokens=False)
        return self._piece_ids[piece]

    def _closing_labels(self, role: str, piece: Sequence[int]) -> list[int]:
        """The labels of what stands after a text: its first stop id, and no other."""
        stops = self.stop_ids(role)
        end = next((position for position, token in enumerate(piece) if token in stops), None)
        return [token if position == end else IGNORED for position, token in enumerate(piece)]

    def known(self, tokens: Sequence[str]) -> frozenset[int]:
        """The ids of those of `tokens` that are control tokens of this tokenizer, at least one."""
        control = self.tokenizer.added_tokens_encoder
        known = frozenset(control[token] for token in tokens if token in control)
        if not known:
            raise ValueError(
                f"{self._source} has no control token {' or '.join(tokens)}, so its family is not {self.name}"
            )
        return known

    def _check(self) -> None:
        """Raise if the template gets one of a few small conversations wrong."""
        for roles in CHECKED:
            messages = [Message(role, f"Text {turn}.", reasoning="Reason.") for turn, role in enumerate(roles)]
            ids, text = self.ids(messages), self.render(messages)
            given = f"{self._where} fails on the turns [{', '.join(roles)}]"
            if text != self._run_template(self._as_turns(messages), False) + self.closers.get(roles[-1], ""):
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
        after_question = self._template.closed(("user", "assistant")).pieces[1]
        if not set(self._closing_labels("user", self._piece(after_question))) - {IGNORED}:
            raise ValueError(f"{self._where} writes no stop token of format {self.name} after a user turn")

    def _as_turns(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        """`messages` as the template takes them, with the reasoning of the last where it is written."""
        turns = [{"role": message.role, "content": message.text} for message in messages]
        if messages[-1].role == "assistant" and self.reasons_in(messages[-1]):
            turns[-1][self.reasoning_field] = messages[-1].reasoning or ""
        return turns
