"""The labels a judge may give to a user turn, with their meanings (guide with rulings: docs/labels.md)."""

from __future__ import annotations

LABELS: dict[str, str] = {
    "malformed_artifact": "is debris: special tokens, role headers, stray markup, broken text, gibberish or a loop",
    "degenerate_short": "nothing, or so little (a mark, a lone word or number) that it says nothing at this point",
    "previous_turn_restate": "says the user's own earlier query again, in the same or other words, and adds nothing",
    "assistant_turn_restate": "says the assistant's response, or much of it, again as if it were news",
    "meta_planning": "thinks about the task or the roles, or instructs itself, instead of speaking as a user",
    "assistant_continuation": "keeps speaking as the assistant: more of a solution, a list, advice or an offer of help",
    "new_task_prompt": "asks for something new that stands alone and does not react to the response",
    "generic_followup": "needs a response to make sense, but would fit nearly any response to nearly any query",
    "genuine_followup": "reacts to this response and names, or unmistakably points at, something in it",
    "acknowledgement": "thanks, agrees or says goodbye, without anything specific",
    "other": "none of the above",
}
"""Name to one-line meaning, in the order of precedence: the first label that applies is the primary one."""

SPECIFIC: frozenset[str] = frozenset({"genuine_followup"})
"""Labels that count for the *specific* rate, told beside the *genuine* rate so that content-free questions show."""

ALWAYS_GENUINE: frozenset[str] = frozenset({"genuine_followup", "generic_followup"})
"""Labels whose definition fixes the binary decision to yes."""

NEVER_GENUINE: frozenset[str] = frozenset(
    {"degenerate_short", "new_task_prompt", "acknowledgement", "assistant_continuation"}
)
"""Labels whose definition fixes the binary to no. The rest leave it open: a restated query may be an objection."""


def check_label(label: object) -> str:
    """`label` itself when it is one of `LABELS`.

    Raises:
        ValueError: it is not; the message lists the known labels.
    """
    if not isinstance(label, str) or label not in LABELS:
        raise ValueError(f"unknown label {label!r}; the labels are {', '.join(LABELS)}")
    return label
