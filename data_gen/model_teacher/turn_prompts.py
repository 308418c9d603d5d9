"""The prompt for one turn: instructions from a YAML file and a style, everything else as quoted JSON data.

The instructions depend only on the YAML file and the styles. Text of a seed, a persona or an earlier turn cannot reach
them, end the quotation, or become a control token of the server's chat template.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from string import Template
from typing import Any

import yaml

from data_gen.plan import Persona, Plan
from data_gen.style import Style
from eval.client.quoted_json import quoted_json
from eval.dialogue import Dialogue, Message, Role, content_hash

FIELD = "message"
RESPONSE_FORMAT: dict[str, Any] = {
    "type": "json_schema",
    "json_schema": {
        "name": "turn",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {FIELD: {"type": "string"}},
            "required": [FIELD],
            "additionalProperties": False,
        },
    },
}
SPEAKERS: tuple[Role, Role] = ("user", "assistant")
"""The roles of an exchange, in order."""
SAMPLE = Plan(
    0, Dialogue("", (Message("user", "a<|b"), Message("assistant", "\u00e9"))), (), Persona("p", "l", "g", "c", "s"), 0
)


@dataclass(frozen=True)
class Texts:
    """The entries of the YAML file."""

    user: str
    reacts: str
    departs: str
    assistant: str
    statement: str
    question: str
    question_share: float
    """Share of replies to follow-ups that end with a question, in [0, 1]."""


@dataclass(frozen=True)
class Question:
    """One request for a turn."""

    key: str
    """Cache key: equal for the same plan, model and prompt, whatever the token limit."""
    body: dict[str, Any]
    """The JSON body of the chat completion request."""


class TurnPrompts:
    """Builds the request for the next turn of a plan; `sha` changes with texts, styles and layout."""

    def __init__(
        self, path: Path, styles: Mapping[str, Style], request: Mapping[str, Any], server: str | None = None
    ) -> None:
        """Read the YAML file and fill in the styles.

        Args:
            request: the other fields of each request: the model and its sampling options.
            server: name of the server, for cache keys; None for OpenAI.
        """
        texts = Texts(**yaml.safe_load(path.read_text(encoding="utf-8")))
        self._request, self._server, self._question_share = dict(request), server, texts.question_share
        self._follows_up = {name for name, style in styles.items() if style.follows_up}
        self._user = {name: _user_instructions(texts, style) for name, style in styles.items()}
        self._assistant = {
            (name, closing): _fill(texts.assistant, style=style.assistant, closing=getattr(texts, closing))
            for name, style in styles.items()
            for closing in ("statement", "question")
        }
        instructions = [sorted(self._user.items()), sorted(self._assistant.items()), texts.question_share]
        layout = [_quote_context(SAMPLE, (), role) for role in SPEAKERS]
        self.sha = content_hash([instructions, RESPONSE_FORMAT, layout])

    def question(self, plan: Plan, turns: Sequence[Message], style: str) -> Question:
        """The request for the turn after `turns`: a user turn in the style named `style`, or the reply to one."""
        role = SPEAKERS[len(turns) % 2]
        if role == "user":
            instructions = self._user[style]
        else:
            instructions = self._assistant[style, self._closing(plan, turns, style)]
        body = {
            **self._request,
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": _quote_context(plan, turns, role)},
            ],
            "response_format": RESPONSE_FORMAT,
        }
        keyed = {name: value for name, value in body.items() if name != "max_completion_tokens"}
        return Question(content_hash(["turn", self._server, keyed, plan.random_seed]), body)

    def _closing(self, plan: Plan, turns: Sequence[Message], style: str) -> str:
        """How the reply ends; drawn here, because a model that may end with a question nearly always does."""
        draw = random.Random(content_hash([plan.random_seed, "closing", len(turns)])).random()
        return "question" if style in self._follows_up and draw < self._question_share else "statement"


def _user_instructions(texts: Texts, style: Style) -> str:
    footing = texts.reacts if style.follows_up else texts.departs
    return _fill(texts.user, style=style.user, footing=footing)


def _fill(template: str, **values: str) -> str:
    """Substitute in a single pass, so that a `$` in a value is left as it is."""
    return Template(template).substitute({name: value.strip() for name, value in values.items()})


def _quote_context(plan: Plan, turns: Sequence[Message], role: Role) -> str:
    """What the speaker knows, as one JSON object; the persona is only given to the user."""
    conversation = [{"role": message.role, "text": message.text} for message in (*plan.seed.messages, *turns)]
    person = {"person": asdict(plan.persona)} if role == "user" else {}
    return quoted_json({**person, "conversation": conversation})
