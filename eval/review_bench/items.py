"""What is reviewed: distinct user turns of runs, each with its context, and with what a reviewer is not to know."""

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
    """A user turn in its context. Shown are roles and texts of the messages; all else is hidden from reviewers."""

    dialogue: Dialogue
    """The context and, last, the user turn. Equal contexts with equal turns have equal ids, whoever wrote them."""
    temperature: float | None
    """At which the turn was sampled; None for a real user's turn."""
    judgements: tuple[Judgement, ...] = ()
    """What the runs' judges said of it, each judge once."""
    weight: float = 1.0
    """How many distinct turns of the runs this one stands for in its sample."""

    @property
    def turn(self) -> Message:
        """The user turn to review."""
        return self.dialogue.messages[-1]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; `from_json` restores an equal item."""
        judgements = [asdict(judgement) for judgement in self.judgements]
        return {**self.__dict__, "dialogue": self.dialogue.to_json(), "judgements": judgements}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> ReviewItem:
        """Restore `to_json`."""
        judgements = tuple(Judgement(**judgement) for judgement in fields["judgements"])
        return cls(**{**fields, "dialogue": Dialogue.from_json(fields["dialogue"]), "judgements": judgements})


@dataclass(frozen=True)
class Found:
    """The items of runs, and how many rows gave none: by "no user turn", "gated" and "repeated"."""

    items: list[ReviewItem]
    left_out: Counter[str]


def find_items(runs: Iterable[Run], allow_gated_text: bool = False) -> Found:
    """Every distinct pair of context and user turn; what several rows hold comes once, with the judgements of all.

    Rows of gated data sets are left out unless asked for: their text would go into the store and what is exported.

    Raises:
        ConfigError: a line of a run is no row.
    """
    items: dict[str, ReviewItem] = {}
    left_out: Counter[str] = Counter()
    for run in runs:
        for row in run.rows():
            if why := _unusable(row, allow_gated_text):
                left_out[why] += 1
                continue
            item = _item(row, run.temperature)
            left_out["repeated"] += item.dialogue.id in items
            items[item.dialogue.id] = _merged(items.get(item.dialogue.id), item)
    return Found(list(items.values()), +left_out)


def _unusable(row: Dialogue, allow_gated_text: bool) -> str | None:
    if row.state in ("gen_error", "skipped") or unjudgeable(row.messages):
        return "no user turn"
    return "gated" if row.meta.get("gated") and not allow_gated_text else None


def _item(row: Dialogue, temperature: float) -> ReviewItem:
    said = tuple(Message(m.role, m.text, m.by, m.finish) for m in row.messages)
    shown = Dialogue("", tuple(Message(m.role, m.text) for m in said))
    return ReviewItem(
        Dialogue(row.task, said, id=shown.id),
        None if row.real_user else temperature,
        () if row.judgement is None else (row.judgement,),
    )


def _merged(known: ReviewItem | None, item: ReviewItem) -> ReviewItem:
    if known is None:
        return item
    judges = {judgement.judge for judgement in known.judgements}
    return replace(known, judgements=(*known.judgements, *(j for j in item.judgements if j.judge not in judges)))
