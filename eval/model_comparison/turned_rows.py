"""The rows whose outcome changed in a gate, and where to find them: lines for a person, JSON for a program.

It contains only ids and places, never the text of a dialogue, which may be gated.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from eval.model_comparison.measured_model import MeasuredModel
from eval.model_comparison.non_inferiority import CONFIDENCE, Check

SHOWN = 20
"""Rows listed per metric; the JSON has all."""


def turned_rows(base: MeasuredModel, new: MeasuredModel, checks: Sequence[Check]) -> list[str]:
    """For every metric that is worse or can't be told: the rows that turned bad or were lost, and their places."""
    lines = [line for check in checks if check.result in ("worse", "cannot tell") for line in _lines(base, new, check)]
    if not lines:
        return []
    folders = [str(path) for model in (base, new) for path in model.run.paths]
    return [*lines, f"to read them side by side, by id: {shlex.join(['python', '-m', 'eval.report', *folders])}"]


def _lines(base: MeasuredModel, new: MeasuredModel, check: Check) -> Iterator[str]:
    ids, what = (check.turned_bad, "turned bad") if check.result == "worse" else (check.lost, "lost their outcome")
    yield f"{check.metric.heading.removesuffix(' %')}: {len(ids)} rows {what}"
    for id in ids[:SHOWN]:
        yield f"  {id}  {base.places[id]}  {new.places[id]}"
    if len(ids) > SHOWN:
        yield f"  and {len(ids) - SHOWN} more; --json lists them all"


def as_json(base: MeasuredModel, new: MeasuredModel, checks: Sequence[Check], status: int) -> dict[str, Any]:
    """All numbers, and the places of every row that turned; rates and differences in percent."""
    runs = {"base": [str(path) for path in base.run.paths], "new": [str(path) for path in new.run.paths]}
    return {"exit_status": status, **runs, "metrics": [_metric_as_json(base, new, check) for check in checks]}


def _metric_as_json(base: MeasuredModel, new: MeasuredModel, check: Check) -> dict[str, Any]:
    before, after = check.rates
    interval = check.pairs.interval(CONFIDENCE)
    assert interval and check.pairs.difference is not None, "a check has pairs"

    def places(ids: Sequence[str]) -> list[dict[str, str]]:
        return [{"id": id, "base": str(base.places[id]), "new": str(new.places[id])} for id in ids]

    return {
        "metric": check.metric.key,
        "result": check.result,
        "max_drop": check.margin,
        "base": {"successes": before.successes, "n": before.n},
        "new": {"successes": after.successes, "n": after.n},
        "pairs": check.pairs.n,
        "difference": 100 * check.pairs.difference,
        "interval_90": [100 * interval.low, 100 * interval.high],
        "p": check.p,
        "turned_bad": places(check.turned_bad),
        "turned_good": places(check.turned_good),
        "lost": places(check.lost),
    }
