"""The outcome of each row of a run, by row id, in 16 bytes per row: a run has few distinct outcomes.

It knows no file and no table; `eval/paper/comparison.py` and `eval/model_comparison/` compare such outcomes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from eval.dialogue import Dialogue, State
from eval.key_index import CONTENT_HASH, KeyIndex, bits_of, pack, unpack
from eval.labels import SPECIFIC
from eval.summary import JUDGED, Setting, setting_of

KINDS = 2**16
"""Upper bound of the distinct outcomes of a run, which has few tasks, settings, states, labels and decisions."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured on one row; None where unknown."""

    task: str
    setting: Setting | None
    state: State
    correct: bool | None
    genuine: bool | None
    specific: bool | None
    label: str | None


class Outcomes(Mapping[str, Outcome]):
    """The outcome of each row by its id, along with a number below 2**47 that the caller of `add` chooses."""

    def __init__(self) -> None:
        self._index = KeyIndex()
        """Row id -> (number of the row, place of its outcome in `_outcomes`), packed."""
        self._kinds: dict[Outcome, int] = {}
        self._outcomes: list[Outcome] = []
        self._counts: list[int] = []
        self._names: dict[int, str] = {}
        """The ids that are not content hashes, by their 64 bits."""

    def add(self, row: Dialogue, number: int) -> None:
        """Add a finished row; it replaces an earlier one with the same id."""
        kind, before = self._kind(outcome_of(row)), self._index.get(row.id)
        self._counts[kind] += 1
        if before is not None:
            self._counts[unpack(before, KINDS)[1]] -= 1
        self._index[row.id] = pack(number, kind, KINDS)
        if not CONTENT_HASH.fullmatch(row.id):
            self._names[bits_of(row.id)] = row.id

    def __getitem__(self, id: str) -> Outcome:
        return self._outcomes[unpack(self._index[id], KINDS)[1]]

    def __iter__(self) -> Iterator[str]:
        """The ids in ascending order of their numbers."""
        return (self._names.get(bits) or f"{bits:016x}" for bits, _ in self._index.by_number())

    def __len__(self) -> int:
        return sum(self._counts)

    def number(self, id: str) -> int:
        """The number that `add` was given for this row."""
        return unpack(self._index[id], KINDS)[0]

    def counts(self) -> dict[Outcome, int]:
        """How many rows have each outcome."""
        return {outcome: count for outcome, count in zip(self._outcomes, self._counts, strict=True) if count}

    def _kind(self, outcome: Outcome) -> int:
        if outcome not in self._kinds:
            if len(self._kinds) == KINDS:
                raise ValueError(f"the rows have more than {KINDS} distinct outcomes")
            self._kinds[outcome] = len(self._kinds)
            self._outcomes.append(outcome)
            self._counts.append(0)
        return self._kinds[outcome]


def outcome_of(row: Dialogue) -> Outcome:
    """The outcome of a finished row."""
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
