"""What changed between two runs on the same rows: follow-ups by paired tests, and how many user turns differ at all.

Rows are matched by the id of the loaded dialogue, which neither a perturbation nor another model changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eval.dialogue import Dialogue, State
from eval.labels import SPECIFIC
from eval.stats.paired import Pairs, pair
from eval.stats.rates import Rate
from eval.summary import JUDGED, Setting, setting_of, user_turn_of


@dataclass(frozen=True)
class Comparison:
    """Two runs on one task in one setting; rows unjudged in either are in `left_out` of the pairs."""

    task: str
    setting: Setting | None
    genuine: Pairs
    specific: Pairs
    changed: Rate
    """User turns whose text differs, of the rows with a user turn in both runs, judged or not."""


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
    turn: str | None


def outcomes_of(rows: Iterable[Dialogue]) -> dict[str, Outcome]:
    """The outcome of each row by its id; all that `compare` needs of a run."""
    return {row.id: outcome_of(row) for row in rows}


def compare(before: Mapping[str, Outcome], after: Mapping[str, Outcome]) -> list[Comparison]:
    """Compare two runs per task and setting, sorted by both.

    A row that shows no setting (it failed early in both runs) goes with its task when that has one setting.
    """
    groups: dict[tuple[str, Setting | None], list[str]] = {}
    for id in before.keys() | after.keys():
        seen = [outcomes[id] for outcomes in (before, after) if id in outcomes]
        setting = next((outcome.setting for outcome in seen if outcome.setting), None)
        groups.setdefault((seen[0].task, setting), []).append(id)
    for task in [task for task, setting in groups if setting is None]:
        known = [ids for (other, setting), ids in groups.items() if other == task and setting is not None]
        if len(known) == 1:
            known[0].extend(groups.pop((task, None)))
    return [
        _comparison(task, setting, _chosen(before, ids), _chosen(after, ids))
        for (task, setting), ids in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1] or ""))
    ]


def outcome_of(row: Dialogue) -> Outcome:
    """What a finished row shows."""
    judgement = row.judgement if row.state in JUDGED else None
    turn = user_turn_of(row)
    return Outcome(
        task=row.task,
        setting=setting_of(row),
        state=row.state,
        correct=row.correct,
        genuine=judgement.genuine if judgement else None,
        specific=judgement.label in SPECIFIC if judgement else None,
        label=judgement.label if judgement else None,
        turn=turn.text if turn else None,
    )


def _chosen(outcomes: Mapping[str, Outcome], ids: Iterable[str]) -> dict[str, Outcome]:
    return {id: outcomes[id] for id in ids if id in outcomes}


def _comparison(
    task: str, setting: Setting | None, before: Mapping[str, Outcome], after: Mapping[str, Outcome]
) -> Comparison:
    turns = [(before[id].turn, after[id].turn) for id in before.keys() & after.keys()]
    spoken = [(was, now) for was, now in turns if was is not None and now is not None]
    return Comparison(
        task=task,
        setting=setting,
        genuine=pair(
            {id: outcome.genuine for id, outcome in before.items()},
            {id: outcome.genuine for id, outcome in after.items()},
        ),
        specific=pair(
            {id: outcome.specific for id, outcome in before.items()},
            {id: outcome.specific for id, outcome in after.items()},
        ),
        changed=Rate(sum(was != now for was, now in spoken), len(spoken)),
    )
