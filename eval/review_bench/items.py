"""The review items: distinct user turns of runs with their contexts, and data that is hidden from reviewers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from eval.dialogue import Dialogue, Judgement, Message
from eval.finished_runs import Run
from eval.judge import unjudgeable


@dataclass(frozen=True)
class ReviewItem:
    """A user turn in its context. Reviewers see only the roles and texts of the messages."""

    dialogue: Dialogue
    """The context followed by the user turn. The id depends only on the roles and texts, not on who wrote them."""
    temperature: float | None
    """Sampling temperature of the turn; None for a real user's turn."""
    judgements: tuple[Judgement, ...] = ()
    """The judgements in the runs, one per judge."""
    weight: float = 1.0
    """How many distinct turns of the runs this one represents in its sample."""

    @property
    def turn(self) -> Message:
        """The user turn to review."""
        return self.dialogue.messages[-1]

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values, from which `from_json` restores an equal item."""
        judgements = [asdict(judgement) for judgement in self.judgements]
        return {**self.__dict__, "dialogue": self.dialogue.to_json(), "judgements": judgements}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> ReviewItem:
        """Restore `to_json`."""
        judgements = tuple(Judgement(**judgement) for judgement in fields["judgements"])
        return cls(**{**fields, "dialogue": Dialogue.from_json(fields["dialogue"]), "judgements": judgements})


@dataclass(frozen=True)
class Found:
    """The items of runs, and the number of rows left out as "no user turn", "gated" or "repeated"."""

    items: list[ReviewItem]
    left_out: Counter[str]


def find_items(runs: Iterable[Run], allow_gated_text: bool = False) -> Found:
    """Every distinct pair of context and user turn, with the judgements of all rows that have it.

    Rows of gated data sets are left out by default, because their text would enter the store and exports.

    Raises:
        ConfigError: a run has a malformed row.
    """
    items: dict[str, ReviewItem] = {}
    left_out: Counter[str] = Counter()
    for run in runs:
        for row in run.rows():
            if why := _why_left_out(row, allow_gated_text):
                left_out[why] += 1
                continue
            item = _item(row, run.temperature)
            left_out["repeated"] += item.dialogue.id in items
            items[item.dialogue.id] = _merge(items.get(item.dialogue.id), item)
    return Found(list(items.values()), +left_out)


def _why_left_out(row: Dialogue, allow_gated_text: bool) -> str | None:
    if row.state in ("gen_error", "skipped") or unjudgeable(row.messages):
        return "no user turn"
    return "gated" if row.meta.get("gated") and not allow_gated_text else None


def _item(row: Dialogue, temperature: float) -> ReviewItem:
    messages = tuple(Message(m.role, m.text, m.by, m.finish) for m in row.messages)
    visible = Dialogue("", tuple(Message(m.role, m.text) for m in messages))
    return ReviewItem(
        Dialogue(row.task, messages, id=visible.id),
        None if row.real_user else temperature,
        () if row.judgement is None else (row.judgement,),
    )


def _merge(known: ReviewItem | None, item: ReviewItem) -> ReviewItem:
    if known is None:
        return item
    judges = {judgement.judge for judgement in known.judgements}
    return replace(known, judgements=(*known.judgements, *(j for j in item.judgements if j.judge not in judges)))
