"""The workspace and the report, built offline, show figures that runs really log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from eval.dashboard_spec import parts, report, workspace
from eval.labels import LABELS
from eval.summary import summarise
from eval.tracked_results import metrics_of
from eval.tracker import flat

pytest.importorskip("wandb_workspaces", reason="pip install '.[dashboard]'")


def spec(made: Any) -> dict[str, Any]:
    return made._to_model().model_dump(mode="json", by_alias=True)


def texts(value: Any) -> Iterator[str]:
    """Every text of a spec; the workspace holds some of it as JSON in JSON."""
    if isinstance(value, dict):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, str):
        yield value


def figures_in(made: Any) -> set[str]:
    """The figures that a spec names."""
    return {
        text.removeprefix("summary:") for text in texts(spec(made)) if re.match(r"(summary:)?(eval|probe|train)/", text)
    }


def filters_in(value: Any) -> set[tuple[str, str]]:
    """(name, value) of every filter of a spec that compares."""
    if isinstance(value, list):
        return set().union(*map(filters_in, value))
    if not isinstance(value, dict):
        return set()
    key, own = value.get("key"), set()
    if isinstance(key, dict) and "op" in value and isinstance(value.get("value"), str):
        own = {(key["name"], value["value"])}
    return own.union(*map(filters_in, value.values()))


@pytest.mark.parametrize("make", [workspace, report])
def test_every_part_is_there_in_order(make) -> None:
    said = json.dumps(spec(make("p", "team", ["gsm8k"], None)))
    places = [said.index(part.title) for part in parts(["gsm8k"])]
    assert places == sorted(places)
    assert {"table2", "eval/labels", "episodes"} <= set(re.findall(r"table2|eval/labels|episodes", said))


def test_workspace_and_report_show_the_same_figures() -> None:
    made = [make("p", "team", ["gsm8k", "ifbench"], "table2") for make in (workspace, report)]
    assert figures_in(made[0]) - {"eval/labels"} == figures_in(made[1]) - {"eval/labels"}
    assert {"eval/ifbench/genuine", "probe/gsm8k/accuracy", "eval/temperature"} <= figures_in(made[0])


def test_figures_of_evaluations_are_those_that_are_logged(rows_of) -> None:
    logged = {f"eval/{name}" for name, _ in flat(metrics_of(summarise(rows_of("gsm8k", 8, 2, right=4))))}
    shown = {name for name in figures_in(workspace("p", "team", ["gsm8k"], None)) if name.startswith("eval/gsm8k/")}
    possible = logged | {f"eval/gsm8k/labels/{label}" for label in LABELS}
    assert {"eval/gsm8k/genuine", "eval/gsm8k/specific", "eval/gsm8k/accuracy"} <= shown <= possible


def test_runs_are_grouped_by_experiment_and_job_type() -> None:
    said = spec(workspace("p", "team", ["gsm8k"], "table2"))
    grouped = json.dumps(said)
    assert "jobType" in grouped and "table2" in grouped and "team" in grouped
    assert "table2" in json.dumps(spec(report("p", "team", ["gsm8k"], "table2")))


@pytest.mark.parametrize("make", [workspace, report])
@pytest.mark.parametrize("group", ["it's", "x' or Name = 'y", 'a "b" = c\\d', "lr=1 and more"])
def test_a_name_of_an_experiment_is_no_filter(make, group) -> None:
    said = spec(make("p", "team", ["gsm8k"], group))
    assert filters_in(said) == {("group", group)}
