"""Which rows a gate has seen turn, and where to read them: lines for a person, JSON for a program.

Ids and places alone: no text of a dialogue, which may be gated.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from eval.model_comparison.measured_model import MeasuredModel
from eval.model_comparison.non_inferiority import CONFIDENCE, Check

SHOWN = 20
"""Rows that are listed of one metric; the JSON has all."""


def turned_rows(base: MeasuredModel, new: MeasuredModel, checks: Sequence[Check]) -> list[str]:
    """For every metric that is worse or can't be told: which rows turned or were lost, and where to read them."""
    lines = [line for check in checks if check.result in ("worse", "cannot tell") for line in _listed(base, new, check)]
    if not lines:
        return []
    folders = [str(path) for model in (base, new) for path in model.run.paths]
    return [*lines, f"side by side, found by id: {shlex.join(['python', '-m', 'eval.report', *folders])}"]


def _listed(base: MeasuredModel, new: MeasuredModel, check: Check) -> Iterator[str]:
    ids, what = (check.turned_bad, "turned bad") if check.result == "worse" else (check.lost, "lost their outcome")
    yield f"{check.metric.heading.removesuffix(' %')}: {len(ids)} rows {what}"
    for id in ids[:SHOWN]:
        yield f"  {id}  {base.places[id]}  {new.places[id]}"
    if len(ids) > SHOWN:
        yield f"  and {len(ids) - SHOWN} more; --json lists all"


def as_json(base: MeasuredModel, new: MeasuredModel, checks: Sequence[Check], status: int) -> dict[str, Any]:
    """All numbers, and every row that turned with its places; rates and differences in percent."""
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
