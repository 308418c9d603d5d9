"""Reports results to an experiment tracker: rates of a finished probe, and tables, figures and HTML reports of runs.

Only an HTML report contains text of dialogues, and none of gated data sets.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from eval import plugin
from eval.config import Plugin
from eval.labels import LABELS
from eval.model_comparison.writing import rows_digest
from eval.plugin_fields import check_tracker
from eval.probe_config import ProbeConfig
from eval.summary import TaskSummary
from eval.table import Table
from eval.tracker import NOBODY, Content, TrackedRun, Tracker, data_files, open_tracker, reporting

FILES = ("config.yaml", "manifest.json", "summary.json", "table2.md", "table2.csv", "table2.json")
"""Files of a probe's folder that are uploaded."""


def report_probe(
    config: ProbeConfig,
    folder: Path,
    protocol: Mapping[str, Any],
    summaries: Sequence[TaskSummary],
    tables: Sequence[Table],
    files: Mapping[str, str],
) -> None:
    """Report the finished probe in `folder`; an error is a warning.

    Args:
        files: SHA-256 of each file of rows that was read, by its path.
    """
    name = config.name or Path(config.model).name
    source = protocol["answers_from"]
    if source not in (None, protocol["model"]):
        name += f" on answers of {source.partition('@')[0]}"
    run = TrackedRun(name, "eval", folder, {**protocol, "name": name})
    with reporting(config.report_to), closing(open_tracker(config.report_to, run)) as tracker:
        at = float(protocol["sampling"]["temperature"])
        answers = [_rows_of(config.answers_from)] if config.answers_from else []
        tracker.used([Content.of_model(protocol["model"], Path(config.model)), *data_files(files), *answers])
        tracker.log(at, {"eval": metrics_of(summaries)})
        tracker.table(at, "eval/labels", ("task", *LABELS), [_labels_of(task) for task in summaries])
        _tables(tracker, at, tables)
        tracker.made([_rows_of(folder)])
        tracker.files(folder / one for one in FILES)


def report_tables(
    report_to: Plugin, name: str, folder: Path, runs: Iterable[Path], tables: Sequence[Table], paths: Iterable[Path]
) -> None:
    """Report tables made in `folder` from the finished `runs`, and upload the files `paths`; an error is a warning."""
    if report_to == NOBODY:
        return
    own = folder / f".{name}"  # `folder` may be that of a probe, which is a run of its own
    run = TrackedRun(name, "eval", own, {"name": name})
    with reporting(report_to):
        own.mkdir(exist_ok=True)
        with closing(open_tracker(report_to, run)) as tracker:
            tracker.used(_rows_of(path) for path in dict.fromkeys(path.resolve() for path in runs))
            _tables(tracker, 0.0, tables)
            tracker.files(paths, folder)


def metrics_of(summaries: Iterable[TaskSummary]) -> dict[str, dict[str, Any]]:
    """By task: rows, rows not judged, rates in [0, 1] or None where nothing was measured, shares of the labels."""
    return {
        task.task: {
            "rows": task.total,
            "unjudged": task.unjudged,
            "genuine": task.genuine.point,
            "specific": task.specific.point,
            "accuracy": task.accuracy.point,
            "labels": {label: round(count / task.judged, 4) for label, count in task.labels.items()},
        }
        for task in summaries
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a command without a configuration: --report-to, --project, --group."""
    parser.add_argument(
        "--report-to",
        default="none",
        choices=plugin.names("eval.trackers"),
        help="experiment tracker to use",
    )
    parser.add_argument("--project", help="its project (default: $WANDB_PROJECT, else userturn)")
    parser.add_argument("--group", help="group of the run (default: $WANDB_RUN_GROUP, else the project)")


def chosen(options: argparse.Namespace) -> Plugin:
    """The tracker that these options choose; raises as `plugin_fields.checked`."""
    given = {"project": options.project, "group": options.group}
    return check_tracker(Plugin(name=options.report_to, **{name: value for name, value in given.items() if value}))


def _tables(tracker: Tracker, at: float, tables: Sequence[Table]) -> None:
    for number, table in enumerate(tables, start=1):
        rows = [[cell.text for cell in row] for row in table.rows]
        tracker.table(at, "table2" if number == 1 else f"table2_{number}", table.columns, rows)


def _labels_of(task: TaskSummary) -> list[Any]:
    return [task.task, *(task.labels.get(label, 0) / task.judged if task.judged else None for label in LABELS)]


def _rows_of(run: Path) -> Content:
    return Content("rows", rows_digest(run), str(run / "rows.jsonl"))
