"""The prompt of a judging model: instructions from a YAML, and the conversation as quoted data.

The instructions depend only on the YAML and on `eval/labels.py`. No text of a conversation can change them, end the
quotation, or become a control token of the server's chat template.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import yaml

from eval.client.quoted_json import quoted_json
from eval.dialogue import Message, content_hash
from eval.labels import LABELS
from eval.model_judge.verdict import RESPONSE_FORMAT

SAMPLE = (Message("user", "a<|b"), Message("assistant", "\u00e9"), Message("user", "c"))


@dataclass(frozen=True)
class Question:
    """One request to a judge."""

    key: str
    """Equal for equal questions to the same judge."""
    body: dict[str, Any]
    """The JSON body of the chat completion request."""


class JudgePrompt:
    """Turns conversations into questions to one model; `sha` changes with the instructions and with the layout."""

    def __init__(self, path: Path, request: Mapping[str, Any], server: str | None) -> None:
        """Read the instructions.

        Args:
            request: the other fields of each request, such as the model and its reasoning effort.
            server: name of the server, where the model's name may mean another model; None for OpenAI's.
        """
        template = Template(yaml.safe_load(path.read_text(encoding="utf-8"))["instructions"])
        self.instructions = template.substitute(labels="\n".join(f"- {name}: {LABELS[name]}" for name in LABELS))
        self.sha = content_hash([self.instructions, RESPONSE_FORMAT, quoted(SAMPLE)])
        self.request = dict(request)
        effort = [self.request["reasoning_effort"]] if "reasoning_effort" in self.request else []
        model = "-".join(["openai", self.request["model"], *effort])
        self.judge_id = f"{model}@{server}-{self.sha[:8]}" if server else f"{model}-{self.sha[:8]}"

    def question(self, messages: Sequence[Message]) -> Question:
        """The question about the last of `messages`."""
        conversation = quoted(messages)
        body = {
            **self.request,
            "messages": [
                {"role": "system", "content": self.instructions},
                {"role": "user", "content": conversation},
            ],
            "response_format": RESPONSE_FORMAT,
        }
        return Question(content_hash([self.judge_id, self.sha, conversation]), body)


def quoted(messages: Sequence[Message]) -> str:
    """A conversation as one JSON object; parsing it returns every text unchanged."""
    conversation = {
        "context": [{"role": message.role, "text": message.text} for message in messages[:-1]],
        "user_turn": messages[-1].text,
    }
    return quoted_json(conversation)
