"""A purely rule-based judge of what a turn takes from the response: crude, cheap, for rewards rather than evaluation.

A turn is a genuine follow-up here if it asks or objects, and mentions something (an informative word or a number) that
is in the response but not in the query, or any word of the response in a reacting phrase ("why", "you said"). It
matches words, not meaning: quoting any word of the response in any question satisfies it, and it misses a good question
in other words. So models trained on its rewards are evaluated by another judge. `local` weighs many features with
fitted weights; both read words with the same code, so their errors are correlated. On the 437 labelled turns that
`local` is fitted on, its kappa is 0.45 for the binary, 0.57 on GSM8K; it says yes to 20 %, the labels to 36 %. Version
1 took "what if I want to know ..." for a reaction to any response, and a policy exploited that (configs/README.md).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from eval.dialogue import Dialogue, Failure, Judgement
from eval.judge import unjudgeable
from eval.local_judge.turn_artifacts import loop_share, role_headers, special_tokens
from eval.local_judge.turn_cues import CUES, PROMPTED_REPLY
from eval.local_judge.turn_features import PLAIN_STEMS
from eval.local_judge.turn_text import Exchange, Reading, ngrams, share

VERSION = 2
"""Version of the rules: changed rules are another judge."""

COPIED = 0.75
"""Minimum share of a turn's character 5-grams that are in query or response for it to count as a copy."""
SHORT = 2
"""Largest number of words of a degenerate turn, unless it answers a question."""

REACTING = {"you_said", "objection", "doubt", "why", "place", "edit_request"}
"""Cues that react to something in general."""


class Judge:
    """Judges user turns one by one, in order, deterministically."""

    cost_bound: float | None = 0.0

    def __init__(self) -> None:
        self.id = f"grounding-{VERSION}"
        self.measured: dict[str, Any] = {}

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Judgement | Failure], None, None]:
        """Each dialogue with its judgement.

        A dialogue without a user turn to judge, or without a response before it, yields `Failure("judge",
        "no_user_turn")` or `Failure("judge", "no_response")`.
        """
        for dialogue in dialogues:
            if failure := unjudgeable(dialogue.messages):
                yield dialogue, failure
                continue
            *context, turn = dialogue.messages
            label = decide(Exchange.of(context, turn.text))
            genuine = label in ("genuine_followup", "generic_followup")
            yield dialogue, Judgement(label, genuine, judge=self.id, cost=0.0)


def decide(exchange: Exchange) -> str:
    """The label of a user turn: that of the first rule that applies, in the order of `eval/labels.py`."""
    turn = exchange.turn
    if _is_debris(exchange):
        return "malformed_artifact"
    if PROMPTED_REPLY.fullmatch(turn.folded.strip(" .!,")) and "?" in exchange.response.raw[-200:]:
        return "genuine_followup"
    if len(turn.words) <= SHORT and not _taken(exchange):
        return "degenerate_short"
    if label := _copy_label(exchange):
        return label
    return _label_of_text(exchange)


def _is_debris(exchange: Exchange) -> bool:
    turn = exchange.turn
    looping, _ = loop_share(turn.words)
    known = exchange.earlier.raw + exchange.response.raw
    return bool(special_tokens(turn.raw, known) or role_headers(turn.raw) or (looping >= 0.5 and len(turn.words) >= 8))


def _copy_label(exchange: Exchange) -> str | None:
    """The label of a near copy of query or response, whichever is closer; None if the turn is not a copy."""
    runs = ngrams(exchange.turn.squeezed, 5)
    query, response = (share(runs, ngrams(text.squeezed, 5)) for text in (exchange.query, exchange.response))
    if max(query, response) < COPIED:
        return None
    return "previous_turn_restate" if query >= response else "assistant_turn_restate"


def _label_of_text(exchange: Exchange) -> str:
    turn = exchange.turn
    found = {name for name, cue in CUES.items() if cue.search(turn.folded.strip())}
    if "planning" in found:
        return "meta_planning"
    asks = "?" in turn.raw or bool(found & {"objection", "doubt", "edit_request", "you_said"})
    taken, new = _taken(exchange), _new(exchange)
    points = taken or (found & REACTING and _informative(turn) & _informative(exchange.response))
    if asks and points and len(new) <= max(3, 2 * len(taken)) and not _poses_numbers(exchange):
        return "genuine_followup"
    if asks and "simplify" in found and len(new) <= 2:
        return "generic_followup"
    if "thanks_start" in found and "?" not in turn.raw:
        return "acknowledgement"
    if not asks and (taken or found & {"answer_start", "answer_phrase", "offer", "advice"}):
        return "assistant_continuation"
    return "new_task_prompt" if asks or found & {"task_start", "an_indefinite_start"} else "other"


def _taken(exchange: Exchange) -> set[str]:
    """Informative words and numbers of the turn that the response introduced."""
    before = _informative(exchange.query) | _informative(exchange.earlier)
    return (_informative(exchange.turn) & _informative(exchange.response)) - before


def _new(exchange: Exchange) -> set[str]:
    """Informative words of the turn that do not occur before it."""
    known = exchange.query.vocabulary | exchange.earlier.vocabulary | exchange.response.vocabulary
    return exchange.turn.content - PLAIN_STEMS - known


def _poses_numbers(exchange: Exchange) -> bool:
    """Whether the turn has two or more numbers that do not occur before it, as a new exercise does."""
    return (
        len(exchange.turn.numbers - exchange.query.numbers - exchange.earlier.numbers - exchange.response.numbers) > 1
    )


def _informative(text: Reading) -> set[str]:
    return (text.content - PLAIN_STEMS) | text.numbers
