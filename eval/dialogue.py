"""The one record that flows through everything: a conversation and what has been generated and measured on it.

A probe row, an SFT conversation and an RL episode are this record at different lengths. Each stage takes a `Dialogue`
and returns another with one thing added. This file knows no model, data set or judge, and imports only the standard
library.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]
State = Literal["ok", "truncated", "gen_error", "judge_error", "skipped"]

ROLES: tuple[Role, ...] = ("system", "user", "assistant")
STATES: tuple[State, ...] = ("ok", "truncated", "gen_error", "judge_error", "skipped")
PERMANENT = frozenset(
    {
        "context_too_long",
        "empty_prompt",
        "template",
        "too_short_to_truncate",
        "nothing_to_react_to",
        "no_user_turn",
        "no_response",
        "uncertain",
    }
)
"""Kinds of failures that depend only on the dialogue and the settings."""
STATE_OF_STAGE: dict[str, State] = {"load": "skipped", "generate": "gen_error", "judge": "judge_error"}


@dataclass(frozen=True)
class Message:
    """One turn. `by` is "data" or the id of the model that wrote it; `finish` and `tokens` are for generated turns."""

    role: Role
    text: str
    by: str = "data"
    finish: Literal["stop", "length"] | None = None
    """"stop": the model closed the turn itself. "length": it was cut off, possibly before its reasoning ended."""
    tokens: int | None = None
    """Generated tokens, including reasoning and the end-of-turn token."""
    reasoning: str | None = None
    """What an assistant wrote before the text; not part of the text, so neither judged nor graded."""

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"role {self.role!r} is not one of {', '.join(ROLES)}")
        if not isinstance(self.text, str):
            raise ValueError(f"the text of a {self.role} message is of type {type(self.text).__name__}, not a string")


@dataclass(frozen=True)
class Judgement:
    """One judge's decision on the last user turn: a primary label and, asked separately, the binary `genuine`."""

    label: str
    genuine: bool
    judge: str
    """Id of the judge, including its date and version."""
    reply: str = ""
    """The judge's raw reply; empty for a judge that runs no language model."""
    prompt_sha: str | None = None
    tokens: int | None = None
    cost: float | None = None
    """US dollars."""


@dataclass(frozen=True)
class Failure:
    """Why a stage has no result for this dialogue. A failure is counted and reported, never scored."""

    stage: Literal["load", "generate", "judge"]
    kind: str
    """Short and countable, such as "context_too_long"."""
    detail: str = ""

    @property
    def permanent(self) -> bool:
        """Whether a retry under the same protocol would fail again."""
        return self.stage == "load" or self.kind in PERMANENT


@dataclass(frozen=True)
class Dialogue:
    """A conversation with its task, its reference answer and everything measured on it so far."""

    task: str
    messages: tuple[Message, ...]
    reference: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    """Task fields that the grader needs; JSON values only."""
    correct: bool | None = None
    """Whether the assistant's answer is right; None if it was not or cannot be graded."""
    judgement: Judgement | None = None
    failure: Failure | None = None
    id: str = ""
    """Hash of task, messages, reference and meta as loaded; generated turns do not change it."""

    def __post_init__(self) -> None:
        if not self.id:
            loaded = [self.task, [_id_fields(m) for m in self.messages], self.reference, dict(self.meta)]
            object.__setattr__(self, "id", content_hash(loaded))

    @property
    def state(self) -> State:
        """The state of a finished row; `truncated` means judged, but the user turn was cut off at its token limit."""
        if self.failure is not None:
            return STATE_OF_STAGE[self.failure.stage]
        if self.messages and self.messages[-1].finish == "length":
            return "truncated"
        return "ok"

    @property
    def real_user(self) -> bool:
        """Whether it ends in a real user's turn from the data: a control, judged as is, with nothing generated."""
        return self.meta.get("source") == "real_user"

    def says(self, message: Message) -> Dialogue:
        """This dialogue with one more turn."""
        return replace(self, messages=(*self.messages, message))

    def with_result(self, result: Judgement | Failure) -> Dialogue:
        """This dialogue with a judge's result in `judgement` or `failure`."""
        return replace(self, judgement=result) if isinstance(result, Judgement) else replace(self, failure=result)

    def last(self, role: Role) -> Message | None:
        """The latest turn of `role`, or None."""
        return next((m for m in reversed(self.messages) if m.role == role), None)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values, from which `from_json` restores an equal dialogue."""
        return {**asdict(self), "meta": dict(self.meta), "state": self.state}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Dialogue:
        """Restore `to_json`.

        Raises:
            ValueError, TypeError, KeyError: a field is missing, unknown or of the wrong type.
        """
        fields = {key: value for key, value in row.items() if key != "state"}
        fields["messages"] = tuple(Message(**message) for message in fields["messages"])
        fields["judgement"] = Judgement(**fields["judgement"]) if fields.get("judgement") else None
        fields["failure"] = Failure(**fields["failure"]) if fields.get("failure") else None
        return cls(**fields)


def _id_fields(message: Message) -> dict[str, Any]:
    """The fields of a message that enter an id; `reasoning` only if set, so that ids from before this field hold."""
    fields = asdict(message)
    return fields if message.reasoning is not None else {k: v for k, v in fields.items() if k != "reasoning"}


def content_hash(value: Any) -> str:
    """The first 16 hex digits of the SHA-256 of canonical JSON; independent of the order of keys."""
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
