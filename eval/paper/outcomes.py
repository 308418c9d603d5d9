"""What the rows of a run show, by id: few outcomes differ, so a row takes 16 bytes, its id and a number of its own.

It knows no file and no table; `eval/paper/comparison.py` and `eval/model_comparison/` set such outcomes side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from eval.dialogue import Dialogue, State
from eval.key_index import CONTENT_HASH, KeyIndex, bits_of
from eval.labels import SPECIFIC
from eval.summary import JUDGED, Setting, setting_of

KINDS = 2**16
"""More than the different outcomes of a run, which has few tasks, settings, states, labels and decisions."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one row shows; None where it does not."""

    task: str
    setting: Setting | None
    state: State
    correct: bool | None
    genuine: bool | None
    specific: bool | None
    label: str | None


class Outcomes(Mapping[str, Outcome]):
    """The outcome of each row by its id, and beside it a number below 2**47, which whoever adds the row gives it."""

    def __init__(self) -> None:
        self._index = KeyIndex()
        """The number of a row times `KINDS`, and which outcome it shows."""
        self._kinds: dict[Outcome, int] = {}
        self._outcomes: list[Outcome] = []
        self._counts: list[int] = []
        self._names: dict[int, str] = {}
        """The ids that are no content hashes."""

    def add(self, row: Dialogue, number: int) -> None:
        """Note what a finished row shows; of rows with one id the last counts."""
        kind, before = self._kind(outcome_of(row)), self._index.get(row.id)
        self._counts[kind] += 1
        if before is not None:
            self._counts[before % KINDS] -= 1
        self._index[row.id] = KINDS * number + kind
        if not CONTENT_HASH.fullmatch(row.id):
            self._names[bits_of(row.id)] = row.id

    def __getitem__(self, id: str) -> Outcome:
        return self._outcomes[self._index[id] % KINDS]

    def __iter__(self) -> Iterator[str]:
        """The ids, by size of their numbers."""
        return (self._names.get(bits) or f"{bits:016x}" for bits, _ in self._index.by_number())

    def __len__(self) -> int:
        return sum(self._counts)

    def number(self, id: str) -> int:
        """The number of a row."""
        return self._index[id] // KINDS

    def counts(self) -> dict[Outcome, int]:
        """How many rows show each outcome."""
        return {outcome: count for outcome, count in zip(self._outcomes, self._counts, strict=True) if count}

    def _kind(self, outcome: Outcome) -> int:
        if outcome not in self._kinds:
            if len(self._kinds) == KINDS:
                raise ValueError(f"rows show more than {KINDS} different outcomes")
            self._kinds[outcome] = len(self._kinds)
            self._outcomes.append(outcome)
            self._counts.append(0)
        return self._kinds[outcome]


def outcome_of(row: Dialogue) -> Outcome:
    """What a finished row shows."""
    judgement = row.judgement if row.state in JUDGED else None
    return Outcome(
        task=row.task,
        setting=setting_of(row),
        state=row.state,
        correct=row.correct,
        genuine=judgement.genuine if judgement else None,
        specific=judgement.label in SPECIFIC if judgement else None,
        label=judgement.label if judgement else None,
    )
