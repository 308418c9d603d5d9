"""Decides the label and the binary of an exchange: by rules where the labelling guide is definite, else by models.

The binary has its own model. The two decisions are combined by the definitions of the labels: where a label fixes the
binary, each is evidence for the other. Specific or generic is a third decision, for follow-ups only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eval.labels import ALWAYS_GENUINE, NEVER_GENUINE
from eval.local_judge.turn_artifacts import THINK_TAG, loop_share, special_tokens
from eval.local_judge.turn_cues import PROMPTED_REPLY
from eval.local_judge.turn_model import Prediction
from eval.local_judge.turn_text import Exchange, Reading

ASKING_TAIL = 200
"""Characters at the end of a response in which a question mark counts as a question to the user."""
GENUINE_GIVEN_OPEN_LABEL = 0.02
"""Probability of *genuine* given a label that leaves the binary open; the guide calls such cases rare."""

Weigh = Callable[[Exchange], Prediction]
"""A function from an exchange to the predictions of fitted models."""


@dataclass(frozen=True)
class Decision:
    """A label, the binary, and the reason: the name of a rule, or "model"."""

    label: str
    genuine: bool
    reason: str
    certainty: float = 1.0
    """The probability of the chosen binary, in [0.5, 1]; 1 if it follows from a definition."""


def decide(exchange: Exchange, weigh: Weigh) -> Decision:
    """Label a user turn and decide whether it is genuine. Deterministic, and defined for every text."""
    return by_rule(exchange, weigh) or by_model(exchange, weigh)


def by_rule(exchange: Exchange, weigh: Weigh) -> Decision | None:
    """The decision that follows from the label definitions alone; None if they leave it open."""
    turn = exchange.turn
    spoken = Reading(THINK_TAG.sub(" ", turn.raw))
    if special_tokens(turn.raw, known=exchange.earlier.raw + exchange.response.raw):
        return Decision("malformed_artifact", False, "special_token")
    if not spoken.words:
        short = len("".join(turn.raw.split())) <= 12 and spoken.raw == turn.raw
        return Decision("degenerate_short" if short else "malformed_artifact", False, "no_words")
    looping, start = loop_share(turn.words)
    if looping * len(turn.words) >= 8 and looping >= 0.5:
        before = Exchange(exchange.query, exchange.earlier, exchange.response, Reading(" ".join(turn.words[:start])))
        reacted = start >= 4 and by_model(before, weigh).genuine
        return Decision("malformed_artifact", reacted, "loop")
    if PROMPTED_REPLY.fullmatch(turn.folded.strip(" .!,")) and "?" in exchange.response.raw[-ASKING_TAIL:]:
        return Decision("genuine_followup", True, "answer")
    return _copy(exchange)


def _copy(exchange: Exchange) -> Decision | None:
    """The decision for a turn that is a passage of the query or of the response; None for any other turn."""
    turn, size = exchange.turn.squeezed, len(exchange.turn.words)
    if size >= 4 and turn == exchange.query.squeezed:
        return Decision("previous_turn_restate", False, "copy_of_query")
    if size >= 6 and turn in exchange.response.squeezed and "?" not in exchange.turn.raw:
        return Decision("assistant_turn_restate", False, "copy_of_response")
    if size >= 6 and turn in exchange.query.squeezed:
        return Decision("previous_turn_restate", False, "copy_of_query")
    return None


def by_model(exchange: Exchange, weigh: Weigh) -> Decision:
    """The most probable binary, then the most probable label given that binary."""
    labels, genuine, specific = weigh(exchange)
    following = labels.get("genuine_followup", 0.0) + labels.get("generic_followup", 0.0)
    labels |= {"genuine_followup": following * specific, "generic_followup": following * (1 - specific)}
    fits = {label: probability * _given(label) for label, probability in labels.items()}
    yes = genuine * sum(fits.values())
    no = (1 - genuine) * (1 - sum(fits.values()))
    if yes > no:
        return Decision(max(fits, key=lambda label: fits[label]), True, "model", yes / (yes + no))
    rest = {label: probability * (1 - _given(label)) for label, probability in labels.items()}
    return Decision(max(rest, key=lambda label: rest[label]), False, "model", no / (yes + no) if no else 1.0)


def _given(label: str) -> float:
    """The probability of *genuine* given a label."""
    if label in ALWAYS_GENUINE:
        return 1.0
    return 0.0 if label in NEVER_GENUINE else GENUINE_GIVEN_OPEN_LABEL
