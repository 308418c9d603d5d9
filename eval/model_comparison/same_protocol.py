"""Whether the rows of two runs are comparable: the settings, apart from the model, in which they differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval.config import ConfigError
from eval.finished_runs import Run
from eval.model_comparison.measured_model import MeasuredModel
from eval.paper.lineup import settings_of

OF_THE_MODEL = frozenset({"model", "answers_sha"})
"""Settings that always differ between models; `answers_sha` includes the model's digest."""
OF_A_CROSS_RUN = frozenset({"model", "answers_from"})
"""The same for a model on the first model's answers; these two share `answers_sha`."""


def differences(first: Run, other: Run, but: frozenset[str] = OF_THE_MODEL) -> list[str]:
    """A line per differing setting: judge, template, history, limits, version and options of shared tasks."""
    before, now = ({key: value for key, value in settings_of(run).items() if key not in but} for run in (first, other))
    found = _differing_values(before, now)
    for task in first.selection.keys() & other.selection.keys():
        of_task = _differing_values(first.selection[task], other.selection[task])
        found |= {f"{task}.{key}": both for key, both in of_task.items()}
    return [f"{key}: {was} there, {is_now} here" for key, (was, is_now) in sorted(found.items())]


def refuse_other_protocol(first: MeasuredModel, other: MeasuredModel, found: list[str], advice: str) -> None:
    """Raise a `ConfigError` that lists the differences, if there are any."""
    if found:
        listed = "\n".join(f"  {one}" for one in found)
        raise ConfigError(
            f"{other.name} ({other.run.name}) was measured differently from {first.name} ({first.run.name}), so their "
            f"numbers are not comparable; {advice}:\n{listed}"
        )


def _differing_values(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    keys = before.keys() | now.keys()
    return {key: (before.get(key), now.get(key)) for key in keys if before.get(key) != now.get(key)}
