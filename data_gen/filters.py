"""Predicates over one conversation and its judge's verdicts. Each gives the reason why it is not kept, or None.

The order in which they are asked is in `filtering.py`; those that need more than a few lines have files of their own.
"""

from __future__ import annotations

import re

from data_gen.filter_context import Context, Reason, generated
from eval.dialogue import Dialogue
from eval.local_judge.turn_artifacts import SPECIAL_TOKEN, THINK_TAG, role_headers

AS_ASSISTANT = re.compile(
    r"\bas an? (?:AI|artificial intelligence|(?:large )?language model|(?:AI |virtual )?assistant)\b"
    r"|\bI(?:['’]m| am) (?:just )?an? (?:AI|(?:large )?language model|(?:AI |virtual )?assistant)\b"  # noqa: RUF001
    r"|\b(?:how|what) (?:can|may) I (?:help|assist|do for) you\b"
    r"|\blet me know if you (?:have|need|would like|want)\b"
    r"|\b(?:I hope (?:this|that) helps|feel free to ask|happy to help)\b"
    r"|\A\W*(?:sure|certainly|of course|absolutely)[,!.:]? here(?:['’]s| is| are)\b",  # noqa: RUF001
    re.IGNORECASE,
)
"""What an assistant says and a user does not."""
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def malformed(dialogue: Dialogue, context: Context) -> Reason | None:
    """A text that no file can hold, roles that do not alternate, or not one user turn for each style of the plan."""
    if LONE_SURROGATE.search("".join(message.text for message in dialogue.messages)):
        return Reason("malformed", "half a character: a lone surrogate")
    roles = [message.role for message in generated(dialogue)]
    planned = len(dialogue.meta["styles"])
    expected = ["user", "assistant"] * planned
    if roles in (expected, expected[:-1]):
        return None
    return Reason("malformed", f"roles {' '.join(roles) or 'none'} for {planned} planned exchanges")


def cut_off(dialogue: Dialogue, context: Context) -> Reason | None:
    """A generated turn met its token limit."""
    for turn, message in enumerate(generated(dialogue)):
        if message.finish == "length":
            return Reason("cut_off", f"generated turn {turn}, of the {message.role}")
    return None


def length(dialogue: Dialogue, context: Context) -> Reason | None:
    """A generated turn has fewer or more words than its role may."""
    limits = {"user": context.limits.user_words, "assistant": context.limits.assistant_words}
    for turn, message in enumerate(generated(dialogue)):
        least, most = limits[message.role]
        if not least <= (count := len(message.text.split())) <= most:
            return Reason(
                "length", f"generated turn {turn}, of the {message.role}: {count} words, not {least} to {most}"
            )
    return None


def special_token(dialogue: Dialogue, context: Context) -> Reason | None:
    """A generated turn holds what a chat family takes for a control token; known by its shape."""
    for turn, message in enumerate(generated(dialogue)):
        if found := SPECIAL_TOKEN.search(message.text) or THINK_TAG.search(message.text):
            return Reason("special_token", f"generated turn {turn}: {found[0]!r}")
    return None


def role_confusion(dialogue: Dialogue, context: Context) -> Reason | None:
    """A turn names its speaker as a transcript does, or a user turn speaks as the assistant."""
    for turn, message in enumerate(generated(dialogue)):
        if role_headers(message.text):
            return Reason("role_confusion", f"generated turn {turn} has the header of a speaker")
        if message.role == "user" and (found := AS_ASSISTANT.search(message.text)):
            return Reason("role_confusion", f"generated turn {turn}, of the user: {found[0]!r}")
    return None


def repeated_turn(dialogue: Dialogue, context: Context) -> Reason | None:
    """A generated user turn says what an earlier turn of the conversation says."""
    said = {_folded(message.text) for message in dialogue.messages[: dialogue.meta["seed_turns"]]}
    for turn, message in enumerate(generated(dialogue)):
        if message.role == "user" and _folded(message.text) in said:
            return Reason("repeated_turn", f"generated turn {turn}")
        said.add(_folded(message.text))
    return None


def unjudged(dialogue: Dialogue, context: Context) -> Reason | None:
    """The judge gave no verdict on a turn that follows up: that is no pass."""
    for turn, verdict in _following(dialogue, context):
        if verdict["failure"]:
            return Reason("unjudged", f"message {turn}: {verdict['failure']}")
    return None


def not_genuine(dialogue: Dialogue, context: Context) -> Reason | None:
    """The judge says of a turn that should follow up that it does not."""
    for turn, verdict in _following(dialogue, context):
        if not verdict["genuine"]:
            return Reason("not_genuine", f"message {turn}: {verdict['label']}")
    return None


def follow_up_labels(dialogue: Dialogue, context: Context) -> list[str]:
    """The labels of the turns that follow up."""
    return [verdict["label"] for _, verdict in _following(dialogue, context)]


def _following(dialogue: Dialogue, context: Context) -> list[tuple[int, dict]]:
    """(place, verdict) of each generated user turn whose style follows up."""
    styles = zip(dialogue.meta["styles"], dialogue.meta["judged"], strict=True)
    return [(verdict["turn"], verdict) for style, verdict in styles if style in context.following]


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
