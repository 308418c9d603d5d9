"""Paired comparison of two runs on the same rows: follow-up rates, and how many user turns differ at all.

Rows are matched by the id of the loaded dialogue, which depends on neither the perturbation nor the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from eval.dialogue import Dialogue, content_hash
from eval.paper.outcomes import Outcome, Outcomes
from eval.stats.paired import Pairs
from eval.stats.rates import Rate
from eval.summary import Setting, user_turn_of

Match = tuple[Outcome | None, Outcome | None, bool | None]
"""A row's outcome before and after, None if a run lacks it; and whether its user turn changed, None if one has none."""


@dataclass(frozen=True)
class Comparison:
    """Two runs on one task in one setting; rows unjudged in either run are counted in `left_out` of the pairs."""

    task: str
    setting: Setting | None
    genuine: Pairs
    specific: Pairs
    changed: Rate
    """User turns whose text differs, among the rows with a user turn in both runs, judged or not."""


def outcomes_of(rows: Iterable[Dialogue]) -> Outcomes:
    """The outcome of each row of a run for `compare`, numbered by a digest of its user turn, or 0 without one."""
    found = Outcomes()
    for row in rows:
        turn = user_turn_of(row)
        found.add(row, 1 + int(content_hash(turn.text)[:11], 16) if turn else 0)
    return found


def compare(before: Outcomes, after: Outcomes) -> list[Comparison]:
    """Compare the `outcomes_of` two runs per task and setting, sorted by both.

    A row without a setting (it failed early in both runs) is counted with its task if that has only one setting.
    """
    groups: dict[tuple[str, Setting | None], Counter[Match]] = {}
    for match, times in Counter(_matches(before, after)).items():
        known = [outcome for outcome in match[:2] if outcome]
        setting = next((outcome.setting for outcome in known if outcome.setting), None)
        groups.setdefault((known[0].task, setting), Counter())[match] = times
    for task in [task for task, setting in groups if setting is None]:
        of_task = [rows for (other, setting), rows in groups.items() if other == task and setting is not None]
        if len(of_task) == 1:
            of_task[0].update(groups.pop((task, None)))
    return [
        _comparison(task, setting, rows)
        for (task, setting), rows in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1] or ""))
    ]


def _matches(before: Outcomes, after: Outcomes) -> Iterator[Match]:
    for id, was in before.items():
        now, digest = after.get(id), before.number(id)
        digest_now = after.number(id) if now else 0
        yield was, now, digest != digest_now if digest and digest_now else None
    yield from ((None, now, None) for id, now in after.items() if id not in before)


def _comparison(task: str, setting: Setting | None, rows: Mapping[Match, int]) -> Comparison:
    return Comparison(
        task=task,
        setting=setting,
        genuine=_pairs(rows, "genuine"),
        specific=_pairs(rows, "specific"),
        changed=Rate(
            sum(times for (*_, changed), times in rows.items() if changed),
            sum(times for (*_, changed), times in rows.items() if changed is not None),
        ),
    )


def _pairs(rows: Mapping[Match, int], measure: str) -> Pairs:
    counts: Counter[tuple[bool | None, bool | None]] = Counter()
    for (was, now, _), times in rows.items():
        counts[getattr(was, measure, None), getattr(now, measure, None)] += times
    return Pairs.of(counts)
