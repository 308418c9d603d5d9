"""What has been said that a user turn can react to, and how far into the response the replies have come.

Knows no style and no wording.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from data_gen.scripted.plain_text import sentences_of
from eval.dialogue import Message

SHORTEST_QUOTE = 4
"""Words of a sentence that a reply quotes by itself."""


@dataclass
class Scene:
    """What has been said that a user turn can react to."""

    sentences: Sequence[str]
    """Of the seed's response, which the replies quote."""
    query: str
    """All that the user has said before."""
    ground: str
    """What the last response says, without its own phrases around it."""
    place: int = -1
    """Of the sentence that was quoted last."""
    used: set[str] = field(default_factory=set)

    @classmethod
    def after(cls, messages: Sequence[Message]) -> Scene:
        """The scene when the last of `messages`, a response, has been read."""
        asked = "\n".join(message.text for message in messages if message.role == "user")
        return cls(quotable(messages[-1].text), asked, messages[-1].text)

    def quotes(self, filled: Mapping[str, str]) -> dict[str, str]:
        """What a reply quotes: the `sentence` behind a facet, and the one after it as `next`."""
        sentence = filled.get("sentence") or self.sentences[self.place]
        for text in sentences_of(sentence):
            if text in self.sentences:
                self.place = self.sentences.index(text)
        self.place = (self.place + 1) % len(self.sentences)
        return {"sentence": _ended(sentence), "next": _ended(self.sentences[self.place])}


def quotable(response: str) -> list[str]:
    """The sentences of a response that a reply can quote by themselves: not what it asks, announces or barely says."""
    sentences = sentences_of(response)
    whole = [text for text in sentences if not text.endswith(("?", ":")) and len(text.split()) >= SHORTEST_QUOTE]
    return whole if len(whole) > 1 else sentences or [response.strip()]


def _ended(sentence: str) -> str:
    return sentence if re.search(r"[.!?][\"\u201d\u2019)]?$", sentence) else f"{sentence.rstrip(',;:')}."
