"""Text of gated data sets, such as GPQA: kept in a run's own rows, shown nowhere else unless someone asks for it.

The authors ask that no example of theirs appears in plain form where it could be crawled. Reports, logs and trackers
show `displayable(dialogue)`; it needs no task, since every row of a gated set says so in its `meta`.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from eval.dialogue import Dialogue, Message

GATED = {"gated": True}
"""What the `meta` of a dialogue from a gated set holds."""


def is_gated(dialogue: Dialogue) -> bool:
    """Whether a dialogue is of a gated set."""
    return bool(dialogue.meta.get("gated"))


def displayable(dialogue: Dialogue, allow_gated_text: bool = False) -> Dialogue:
    """`dialogue` itself, or for a gated set a copy that gives each text as its length and the start of its hash.

    Withheld is all that can quote the question: messages, their reasoning, the judge's reply, the detail of a failure.
    """
    if allow_gated_text or not is_gated(dialogue):
        return dialogue
    judgement, failure = dialogue.judgement, dialogue.failure
    return replace(
        dialogue,
        messages=tuple(map(_withheld_message, dialogue.messages)),
        judgement=judgement and replace(judgement, reply=withheld(judgement.reply)),
        failure=failure and replace(failure, detail=withheld(failure.detail)),
    )


def _withheld_message(message: Message) -> Message:
    reasoning = message.reasoning
    return replace(message, text=withheld(message.text), reasoning=None if reasoning is None else withheld(reasoning))


def withheld(text: str) -> str:
    """The placeholder of a text: equal for equal texts; an empty text stays empty, which is informative."""
    if not text:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[gated text withheld: {len(text)} characters, SHA-256 {digest[:12]}]"
