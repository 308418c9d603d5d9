"""Renders conversations as token ids in a model's chat format, and parses generated ids back into text.

The probe, SFT and RL all render through a `ChatFormat`, so a turn is opened with the same ids everywhere. The pieces
around the texts come from the tokenizer's own chat template and are tokenized with its control tokens; texts are
tokenized as plain text, whatever they contain. What is specific to a family (stop tokens, template variables, where
reasoning ends) is one file in `eval/formats/`.

Reasoning is kept separate from text. Families that reason render it only in the final assistant turn of a complete
conversation; no turn is opened after it.
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
"""The label that torch's cross entropy ignores."""
CHECKED: tuple[tuple[Role, ...], ...] = (
    ("user",),
    ("user", "assistant"),
    ("user", "assistant", "user"),
    ("user", "assistant", "user", "assistant"),
    ("system", "user"),
    ("system", "user", "assistant", "user"),
)
"""Role sequences on which every template is validated before it is used."""


class Utterance(NamedTuple):
    """The parsed content of one generated turn."""

    text: str
    reasoning: str | None
    """None if there is no reasoning."""
    finish: Literal["stop", "length"]
    """"length": truncated, or the reasoning never ended."""


class ChatFormat:
    """Renders conversations with the chat template of a tokenizer.

    `history` decides how an assistant turn is rendered when a user turn is opened after it: "as_history", as an earlier
    turn of the continued conversation, or "as_last", as the final turn of the conversation so far, which is what
    rendering the messages and appending a header gives. They differ in families that put a think block or a different
    closing token into the final assistant turn.

    Raises:
        ValueError: there is no chat template, a stop token or mark of the family is not in the vocabulary, or the
            template drops a message, lacks the prefix property or tokenizes differently in pieces.
    """

    name: ClassVar[str]
    stops: ClassVar[Mapping[str, tuple[str, ...]]]
    """Role that can be generated -> tokens that end its turn; at least one must be in the tokenizer."""
    marks: ClassVar[tuple[str, ...]] = ()
    """Further control tokens that every tokenizer of this family must have."""
    closers: ClassVar[Mapping[str, str]] = {}
    """Role -> token that closes a final turn, in families whose template leaves that to the next header."""
    reasoning_field: ClassVar[str] = "reasoning_content"
    """The key of a message from which the template reads an assistant's reasoning."""
    template_variables: Mapping[str, Any] = {}
    options: Mapping[str, Any] = {}
    """Options of this family besides `history`; they are part of a run's protocol."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, history: History = "as_history") -> None:
        if history not in get_args(History):
            raise ValueError(f"history is {history!r}; it must be {' or '.join(get_args(History))}")
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
        """The ids of `messages` followed by the header of the next turn, which the model generates as `role`.

        With `history="as_history"` they are a prefix of `ids([*messages, Message(role, ...)])` for any text. An
        assistant turn is opened by the template's own generation prompt.

        Raises:
            ValueError: no turn of `role` can be generated, or the template rejects this sequence of roles.
        """
        self.stop_ids(role)
        layout = self._template.opened(tuple(message.role for message in messages), role)
        return [token for part in self._parts(layout, messages) for token in part]

    def ids(self, messages: Sequence[Message]) -> list[int]:
        """The ids of a complete conversation, closed by the template or else by the family's closer."""
        return [token for part in self._parts(self._closed(messages), messages) for token in part]

    def render(self, messages: Sequence[Message]) -> str:
        """A complete conversation as text, for display: control tokens and texts that look like them are the same."""
        layout = self._closed(messages)
        texts = [slot.fill(messages) for slot in layout.slots]
        return layout.pieces[0] + "".join(text + piece for text, piece in zip(texts, layout.pieces[1:], strict=True))

    def example(self, messages: Sequence[Message], train_on: TrainOn) -> tuple[list[int], list[int]]:
        """Token ids and labels of equal length; a trained turn's labels are its text and its closing stop token.

        All other labels are -100. User turns are trained only after an assistant turn: an opening question responds to
        nothing. In a final assistant turn the labels start where generation starts, so reasoning and its marks are
        included. An earlier assistant turn is rendered with its history header, which in some families differs from the
        generation header; to train it as generated, pass the conversation cut after it.
        """
        if train_on not in get_args(TrainOn):
            raise ValueError(f"train_on is {train_on!r}; it must be one of {', '.join(get_args(TrainOn))}")
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
                f"no turn of role {role!r} can be generated; the role must be {' or '.join(self._stop_ids)}"
            )
        return self._stop_ids[role]

    def clean(self, ids: Sequence[int], role: str) -> Utterance:
        """Parse a generated turn up to its first stop id; other control tokens in its text are kept."""
        stops = self.stop_ids(role)
        end = next((position for position, token in enumerate(ids) if token in stops), None)
        return self.read(list(ids[:end]), role, "length" if end is None else "stop")

    def read(self, ids: list[int], role: str, finish: Literal["stop", "length"]) -> Utterance:
        """Parse the ids of a turn before its stop id: all text, unless the family separates reasoning."""
        return Utterance(self.decode(ids), None, finish)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, including control tokens and white space."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def reasons_in(self, message: Message) -> bool:
        """Whether `message`, as a final assistant turn, is rendered with a reasoning, which may be empty."""
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
        """Ids of piece, text, piece, ..., piece. The lists of pieces are cached: do not modify them.

        Leading white space of a piece is tokenized with the text before it: in many vocabularies a full stop and a line
        break are one token.
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
        """The labels of the piece after a text: only its first stop id is trained."""
        stops = self.stop_ids(role)
        end = next((position for position, token in enumerate(piece) if token in stops), None)
        return [token if position == end else IGNORED for position, token in enumerate(piece)]

    def known(self, tokens: Sequence[str]) -> frozenset[int]:
        """The ids of those of `tokens` that are control tokens of this tokenizer.

        Raises:
            ValueError: none of them is.
        """
        control = self.tokenizer.added_tokens_encoder
        known = frozenset(control[token] for token in tokens if token in control)
        if not known:
            raise ValueError(
                f"{self._source} has no control token {' or '.join(tokens)}, so its family is not {self.name}"
            )
        return known

    def _check(self) -> None:
        """Validate the template on the role sequences of `CHECKED`; raises `ValueError`."""
        for roles in CHECKED:
            messages = [Message(role, f"Text {turn}.", reasoning="Reason.") for turn, role in enumerate(roles)]
            ids, text = self.ids(messages), self.render(messages)
            failure = f"{self._where} fails on the turns [{', '.join(roles)}]"
            if text != self._run_template(self._as_turns(messages), False) + self.closers.get(roles[-1], ""):
                raise ValueError(f"{failure}: the pieces around the texts depend on the texts")
            if ids != self.tokenizer.encode(text, add_special_tokens=False):
                raise ValueError(f"{failure}: its pieces and texts are tokenized differently alone than together")
            for turn, role in enumerate(roles):
                opened = self.open_turn(messages[:turn], role) if role == "user" or turn == len(roles) - 1 else []
                if self.history == "as_history" and ids[: len(opened)] != opened:
                    raise ValueError(
                        f"{failure}: the prefix property does not hold, the ids that open turn {turn} ({role}) are not "
                        "a prefix of the ids of the complete conversation"
                    )
        after_question = self._template.closed(("user", "assistant")).pieces[1]
        if not set(self._closing_labels("user", self._piece(after_question))) - {IGNORED}:
            raise ValueError(f"{self._where} has no stop token of format {self.name} after a user turn")

    def _as_turns(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        """`messages` in the template's input format, with the reasoning of the final turn if it is rendered."""
        turns = [{"role": message.role, "content": message.text} for message in messages]
        if messages[-1].role == "assistant" and self.reasons_in(messages[-1]):
            turns[-1][self.reasoning_field] = messages[-1].reasoning or ""
        return turns
