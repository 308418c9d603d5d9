"""The two passes that decide what is kept of the conversations that were made: before the judge and after it.

Both are pure: the same input gives the same result in whatever order it comes, since it is read by plan number.
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


def read(made: Iterable[Dialogue], context: Context, advance: Callable[[], None] = lambda: None) -> Filtered:
    """What is to be judged: conversations that were made, and that no filter of `READ` has a reason against.

    Args:
        advance: called once for each conversation.
    """
    kept, rejects = [], []
    for dialogue in sorted(made, key=_number):
        if dialogue.failure:
            rejects.append(Reject(dialogue, "generate", Reason(dialogue.failure.kind, dialogue.failure.detail)))
        elif reason := _first(dialogue, READ, context):
            rejects.append(Reject(dialogue, "read", reason))
        else:
            kept.append(dialogue)
        advance()
    return Filtered(kept, rejects)


def decide(judged: Iterable[Dialogue], context: Context) -> Filtered:
    """What is kept of conversations with their verdicts: by the judge, then beside the others."""
    kept, rejects = [], []
    earlier = None if context.limits.near_duplicates is None else NearDuplicates(context.limits.near_duplicates)
    for dialogue in sorted(judged, key=_number):
        if reason := _first(dialogue, JUDGED if context.limits.genuine else (), context):
            rejects.append(Reject(dialogue, "judge", reason))
        elif earlier and (reason := earlier.check(dialogue)):
            rejects.append(Reject(dialogue, "compare", reason))
        else:
            kept.append(dialogue)
    if context.limits.specific_share is not None:
        generic = too_generic(kept, context.limits.specific_share, context)
        rejects += [Reject(dialogue, "compare", Reason("generic")) for dialogue in kept if _number(dialogue) in generic]
        kept = [dialogue for dialogue in kept if _number(dialogue) not in generic]
    return Filtered(kept, rejects)


def joined(read: Filtered, decided: Filtered) -> Filtered:
    """Both passes as one, rejects in the order of their plans."""
    rejects = [*read.rejects, *decided.rejects]
    return Filtered(decided.kept, sorted(rejects, key=lambda reject: _number(reject.dialogue)))


def _first(dialogue: Dialogue, predicates: Sequence[Predicate], context: Context) -> Reason | None:
    return next((reason for predicate in predicates if (reason := predicate(dialogue, context))), None)


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
