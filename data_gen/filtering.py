"""The two filtering passes over generated conversations: `read` before the judge, `decide` after it.

Both are pure and process conversations by plan number, so the order of the input does not affect the result.
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
"""Applied before the judge, which may cost money; the first reason counts."""
JUDGED: tuple[Predicate, ...] = (filters.unjudged, filters.not_genuine)


@dataclass(frozen=True)
class Reject:
    """A rejected conversation or seed, and why it was rejected."""

    dialogue: Dialogue
    stage: Stage
    reason: Reason

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values. The texts of a leak are null, so that no evaluation text is published with the rejects."""
        row = self.dialogue.to_json()
        if self.reason.name == LEAK:
            row["messages"] = [{**message, "text": None} for message in row["messages"]]
        return {"reason": self.reason.name, "detail": self.reason.detail, "stage": self.stage, **row}


@dataclass(frozen=True)
class Filtered:
    """The result of a filtering pass; every input conversation is in either `kept` or `rejects`."""

    kept: list[Dialogue]
    rejects: list[Reject]

    def reasons(self) -> dict[str, int]:
        """Rejections by reason, most frequent first."""
        return dict(Counter(reject.reason.name for reject in self.rejects).most_common())


def read(made: Iterable[Dialogue], context: Context, advance: Callable[[], None] = lambda: None) -> Filtered:
    """Keep the conversations to judge: those that were completed and that pass every filter of `READ`.

    Args:
        advance: called once per conversation.
    """
    kept, rejects = [], []
    for dialogue in sorted(made, key=_plan_number):
        if dialogue.failure:
            rejects.append(Reject(dialogue, "generate", Reason(dialogue.failure.kind, dialogue.failure.detail)))
        elif reason := _first_reason(dialogue, READ, context):
            rejects.append(Reject(dialogue, "read", reason))
        else:
            kept.append(dialogue)
        advance()
    return Filtered(kept, rejects)


def decide(judged: Iterable[Dialogue], context: Context) -> Filtered:
    """Filter judged conversations: by their verdicts, then by comparison with each other."""
    kept, rejects = [], []
    earlier = None if context.limits.near_duplicates is None else NearDuplicates(context.limits.near_duplicates)
    for dialogue in sorted(judged, key=_plan_number):
        if reason := _first_reason(dialogue, JUDGED if context.limits.genuine else (), context):
            rejects.append(Reject(dialogue, "judge", reason))
        elif earlier and (reason := earlier.check(dialogue)):
            rejects.append(Reject(dialogue, "compare", reason))
        else:
            kept.append(dialogue)
    if context.limits.specific_share is not None:
        generic = too_generic(kept, context.limits.specific_share, context)
        rejects += [Reject(each, "compare", Reason("generic")) for each in kept if _plan_number(each) in generic]
        kept = [each for each in kept if _plan_number(each) not in generic]
    return Filtered(kept, rejects)


def joined(read: Filtered, decided: Filtered) -> Filtered:
    """Both passes combined, with rejects in plan order."""
    rejects = [*read.rejects, *decided.rejects]
    return Filtered(decided.kept, sorted(rejects, key=lambda reject: _plan_number(reject.dialogue)))


def _first_reason(dialogue: Dialogue, predicates: Sequence[Predicate], context: Context) -> Reason | None:
    return next((reason for predicate in predicates if (reason := predicate(dialogue, context))), None)


def too_generic(dialogues: Iterable[Dialogue], share: float, context: Context) -> set[int]:
    """Plan numbers to drop so that `share` of the follow-ups are specific: the most generic first, then the latest."""
    counts = {}
    for dialogue in dialogues:
        labels = filters.follow_up_labels(dialogue, context)
        counts[_plan_number(dialogue)] = (len(labels), sum(label in SPECIFIC for label in labels))
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


def _plan_number(dialogue: Dialogue) -> int:
    number: int = dialogue.meta["plan"]
    return number
