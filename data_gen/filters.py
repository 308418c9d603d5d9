"""Filters over one conversation and its verdicts: each returns the reason for rejecting it, or None.

`filtering.py` applies them in order; filters that need more than a few lines have their own files.
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
"""Phrases typical of an assistant, not of a user."""
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def malformed(dialogue: Dialogue, context: Context) -> Reason | None:
    """The text cannot be encoded, roles do not alternate, or the user turns do not match the planned styles."""
    if LONE_SURROGATE.search("".join(message.text for message in dialogue.messages)):
        return Reason("malformed", "contains a lone surrogate, which UTF-8 cannot encode")
    roles = [message.role for message in generated(dialogue)]
    planned = len(dialogue.meta["styles"])
    expected = ["user", "assistant"] * planned
    if roles in (expected, expected[:-1]):
        return None
    return Reason("malformed", f"roles {' '.join(roles) or 'none'} for {planned} planned exchanges")


def cut_off(dialogue: Dialogue, context: Context) -> Reason | None:
    """A generated turn reached its token limit."""
    for turn, message in enumerate(generated(dialogue)):
        if message.finish == "length":
            return Reason("cut_off", f"generated turn {turn} ({message.role})")
    return None


def length(dialogue: Dialogue, context: Context) -> Reason | None:
    """A generated turn has fewer or more words than the limits of its role allow."""
    limits = {"user": context.limits.user_words, "assistant": context.limits.assistant_words}
    for turn, message in enumerate(generated(dialogue)):
        least, most = limits[message.role]
        if not least <= (count := len(message.text.split())) <= most:
            return Reason("length", f"generated turn {turn} ({message.role}): {count} words, not {least} to {most}")
    return None


def special_token(dialogue: Dialogue, context: Context) -> Reason | None:
    """A generated turn contains text shaped like a control token of a chat family."""
    for turn, message in enumerate(generated(dialogue)):
        if found := SPECIAL_TOKEN.search(message.text) or THINK_TAG.search(message.text):
            return Reason("special_token", f"generated turn {turn}: {found[0]!r}")
    return None


def role_confusion(dialogue: Dialogue, context: Context) -> Reason | None:
    """A turn contains a transcript-style speaker header, or a user turn speaks as the assistant."""
    for turn, message in enumerate(generated(dialogue)):
        if role_headers(message.text):
            return Reason("role_confusion", f"generated turn {turn} has a speaker header")
        if message.role == "user" and (found := AS_ASSISTANT.search(message.text)):
            return Reason("role_confusion", f"generated turn {turn} (user): {found[0]!r}")
    return None


def repeated_turn(dialogue: Dialogue, context: Context) -> Reason | None:
    """A generated user turn repeats an earlier turn, up to case and punctuation."""
    earlier = {_normalize(message.text) for message in dialogue.messages[: dialogue.meta["seed_turns"]]}
    for turn, message in enumerate(generated(dialogue)):
        if message.role == "user" and _normalize(message.text) in earlier:
            return Reason("repeated_turn", f"generated turn {turn}")
        earlier.add(_normalize(message.text))
    return None


def unjudged(dialogue: Dialogue, context: Context) -> Reason | None:
    """The judge failed on a turn that should follow up; an unjudged turn does not pass."""
    for turn, verdict in _follow_up_verdicts(dialogue, context):
        if verdict["failure"]:
            return Reason("unjudged", f"message {turn}: {verdict['failure']}")
    return None


def not_genuine(dialogue: Dialogue, context: Context) -> Reason | None:
    """The judge does not label a turn that should follow up as a genuine follow-up."""
    for turn, verdict in _follow_up_verdicts(dialogue, context):
        if not verdict["genuine"]:
            return Reason("not_genuine", f"message {turn}: {verdict['label']}")
    return None


def follow_up_labels(dialogue: Dialogue, context: Context) -> list[str]:
    """The judge's labels of the turns whose style follows up."""
    return [verdict["label"] for _, verdict in _follow_up_verdicts(dialogue, context)]


def _follow_up_verdicts(dialogue: Dialogue, context: Context) -> list[tuple[int, dict]]:
    """(message index, verdict) of each generated user turn whose style follows up."""
    styles = zip(dialogue.meta["styles"], dialogue.meta["judged"], strict=True)
    return [(verdict["turn"], verdict) for style, verdict in styles if style in context.following]


def _normalize(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
