"""The pass that decides what is kept, of seeds before they are used and of all conversations that were made.

A pure pass: the same input gives the same result in whatever order it comes, since it is read by plan number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from data_gen import filters
from data_gen.filter_context import Context, Predicate, Reason, Stage
from data_gen.language import other_language
from data_gen.leaks import LEAK, leak
from data_gen.near_duplicates import NearDuplicates
from eval.dialogue import Dialogue
from eval.labels import SPECIFIC

READ: tuple[Predicate, ...] = (
    filters.malformed,
    filters.cut_off,
    filters.length,
    filters.special_token,
    filters.role_confusion,
    filters.repeated_turn,
    leak,
    other_language,
)
"""Asked before the judge, which may cost money; the first reason counts."""
JUDGED: tuple[Predicate, ...] = (filters.unjudged, filters.not_genuine)


@dataclass(frozen=True)
class Reject:
    """A conversation or a seed that is not kept, and why."""

    dialogue: Dialogue
    stage: Stage
    reason: Reason

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values. Of a leak the text is withheld: what must not be spread must not be spread from here."""
        row = self.dialogue.to_json()
        if self.reason.name == LEAK:
            row["messages"] = [{**message, "text": None} for message in row["messages"]]
        return {"reason": self.reason.name, "detail": self.reason.detail, "stage": self.stage, **row}


@dataclass(frozen=True)
class Filtered:
    """What became of the conversations; `kept` and `rejects` add up to those that were made."""

    kept: list[Dialogue]
    rejects: list[Reject]

    def reasons(self) -> dict[str, int]:
        """How many were rejected for each reason, most frequent first."""
        return dict(Counter(reject.reason.name for reject in self.rejects).most_common())


def filter_conversations(
    made: Iterable[Dialogue], context: Context, judge: Callable[[list[Dialogue]], list[Dialogue]]
) -> Filtered:
    """Keep what no filter has a reason against.

    Args:
        judge: gives conversations back with the verdicts on their user turns in `meta["judged"]`.
    """
    ordered = sorted(made, key=_number)
    rejects = [
        Reject(dialogue, "generate", Reason(dialogue.failure.kind, dialogue.failure.detail))
        for dialogue in ordered
        if dialogue.failure
    ]
    whole = [dialogue for dialogue in ordered if not dialogue.failure]
    read, refused = _ask(whole, "read", READ, context)
    judged, disliked = _ask(judge(read), "judge", JUDGED if context.limits.genuine else (), context)
    kept, compared = _compare(judged, context)
    rejects += [*refused, *disliked, *compared]
    return Filtered(kept, sorted(rejects, key=lambda reject: _number(reject.dialogue)))


def _ask(
    dialogues: Sequence[Dialogue], stage: Stage, predicates: Sequence[Predicate], context: Context
) -> tuple[list[Dialogue], list[Reject]]:
    kept, rejects = [], []
    for dialogue in dialogues:
        found = (reason for predicate in predicates if (reason := predicate(dialogue, context)))
        if reason := next(found, None):
            rejects.append(Reject(dialogue, stage, reason))
        else:
            kept.append(dialogue)
    return kept, rejects


def _compare(dialogues: Sequence[Dialogue], context: Context) -> tuple[list[Dialogue], list[Reject]]:
    """Drop near-duplicates of earlier conversations, then generic ones until enough turns are specific."""
    kept, rejects = list(dialogues), []
    if context.limits.near_duplicates is not None:
        earlier = NearDuplicates(context.limits.near_duplicates)
        kept = []
        for dialogue in dialogues:
            if reason := earlier.check(dialogue):
                rejects.append(Reject(dialogue, "compare", reason))
            else:
                kept.append(dialogue)
    if context.limits.specific_share is not None:
        generic = too_generic(kept, context.limits.specific_share, context)
        rejects += [Reject(dialogue, "compare", Reason("generic")) for dialogue in kept if _number(dialogue) in generic]
        kept = [dialogue for dialogue in kept if _number(dialogue) not in generic]
    return kept, rejects


def too_generic(dialogues: Iterable[Dialogue], share: float, context: Context) -> set[int]:
    """Plan numbers to drop so that `share` of the turns that follow up are specific: the most generic, latest first."""
    counts = {}
    for dialogue in dialogues:
        labels = filters.follow_up_labels(dialogue, context)
        counts[_number(dialogue)] = (len(labels), sum(label in SPECIFIC for label in labels))
    turns = sum(total for total, _ in counts.values())
    specific = sum(known for _, known in counts.values())
    dropped: set[int] = set()
    for number in sorted(counts, key=lambda number: (counts[number][1] - counts[number][0], -number)):
        total, known = counts[number]
        if specific >= share * turns or known == total:
            break
        turns, specific = turns - total, specific - known
        dropped.add(number)
    return dropped


def _number(dialogue: Dialogue) -> int:
    number: int = dialogue.meta["plan"]
    return number
