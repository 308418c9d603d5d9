"""State of a scripted conversation: what a user turn can react to, and which sentence a reply quotes next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from data_gen.scripted.plain_text import sentences_of
from eval.dialogue import Message

SHORTEST_QUOTE = 4
"""Minimum words of a sentence that a reply can quote on its own."""


@dataclass
class Scene:
    """What the conversation so far offers to the next turn."""

    sentences: Sequence[str]
    """The sentences of the seed's response, which replies quote."""
    query: str
    """All user messages of the seed."""
    ground: str
    """The content of the last response, without the fixed phrases of its template."""
    place: int = -1
    """Index of the sentence quoted last."""
    used: set[str] = field(default_factory=set)
    """Keys of the facets used so far."""

    @classmethod
    def after(cls, messages: Sequence[Message]) -> Scene:
        """The scene after `messages`, which end in a response."""
        query = "\n".join(message.text for message in messages if message.role == "user")
        return cls(quotable(messages[-1].text), query, messages[-1].text)

    def quotes(self, filled: Mapping[str, str]) -> dict[str, str]:
        """What a reply quotes: the `sentence` of a facet, and the sentence after it as `next`."""
        sentence = filled.get("sentence") or self.sentences[self.place]
        for text in sentences_of(sentence):
            if text in self.sentences:
                self.place = self.sentences.index(text)
        self.place = (self.place + 1) % len(self.sentences)
        return {"sentence": _with_full_stop(sentence), "next": _with_full_stop(self.sentences[self.place])}


def quotable(response: str) -> list[str]:
    """The sentences a reply can quote on their own: no questions, no lead-ins ending in ":", nothing very short."""
    sentences = sentences_of(response)
    complete = [text for text in sentences if not text.endswith(("?", ":")) and len(text.split()) >= SHORTEST_QUOTE]
    return complete if len(complete) > 1 else sentences or [response.strip()]


def _with_full_stop(sentence: str) -> str:
    return sentence if re.search(r"[.!?][\"\u201d\u2019)]?$", sentence) else f"{sentence.rstrip(',;:')}."
