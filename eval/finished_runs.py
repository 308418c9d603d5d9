"""Reads finished run folders: their protocol, summaries and rows.

A run has one protocol. Rows of different runs are never pooled, here or by any caller.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.rows import numbered_rows
from eval.stats.rates import Rate
from eval.summary import TaskSummary

RATES = frozenset(field.name for field in fields(TaskSummary) if field.type in (Rate, "Rate"))
"""Fields of `TaskSummary` that are rates."""


@dataclass(frozen=True, slots=True)
class Place:
    """The location of a row: its file and line number, from 1."""

    path: Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True)
class Run:
    """A finished run with its stored summaries; `rows` reads its dialogues from disk each time."""

    paths: tuple[Path, ...]
    """Its folder, or several with one protocol and different tasks."""
    protocol: Mapping[str, Any]
    """The settings that its rows share: model, format, history, sampling, perturbation, judge and so on."""
    summaries: tuple[TaskSummary, ...]
    given_name: str | None = None
    """The name in its configuration, such as "Base"."""
    selection: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Module name in `eval/tasks/` -> the task's version, its options without the limit, and the seed."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """The training record in the model's folder; empty for a model that was not trained by this project."""
    shard: str | None = None
    """ "I/N" if it is one of N shards of a run, whose rows are only a part; None for a whole run."""

    @property
    def name(self) -> str:
        """The names of its folders, comma-separated."""
        return ", ".join(path.name for path in self.paths)

    @property
    def model(self) -> str:
        """Name of the model that generated the user turns, without the digest of its weights."""
        return str(self.protocol["model"]).split("@", 1)[0]

    @property
    def format(self) -> str:
        """Chat family of the model."""
        return str(self.protocol["format"])

    @property
    def temperature(self) -> float:
        """Sampling temperature of the user turns; 0 is greedy decoding."""
        return float(self.protocol["sampling"]["temperature"])

    @property
    def perturbed(self) -> bool:
        """Whether the answers were perturbed before the user turns were generated."""
        return self.protocol.get("perturbation") is not None

    def rows(self) -> Iterator[Dialogue]:
        """The finished rows, one at a time, in the order of the files.

        Raises:
            ConfigError: a row is malformed or, at the end, there are fewer rows than counted in `summaries`.
        """
        return (row for _, row in self.located_rows())

    def located_rows(self) -> Iterator[tuple[Place, Dialogue]]:
        """The same rows, each with its place."""
        found = Counter[str]()
        try:
            for file in [path / "rows.jsonl" for path in self.paths]:
                for line, row in numbered_rows(file):
                    found[row.task] += 1
                    yield Place(file, line), row
        except ValueError as error:
            raise ConfigError(str(error)) from error
        self._refuse_lost_rows(found)

    def _refuse_lost_rows(self, found: Counter[str]) -> None:
        counted = Counter[str]()
        for summary in self.summaries:
            counted[summary.task] += summary.total
        if lost := counted - found:
            counts = ", ".join(f"{task} {count} of {counted[task]}" for task, count in sorted(lost.items()))
            raise ConfigError(f"{self.name} has lost rows: {counts}; {' or '.join(map(_how_to_complete, self.paths))}")


def read_run(path: Path) -> Run:
    """The finished run in folder `path`, without reading its rows.

    Raises:
        ConfigError: the folder, its manifest or its rows are missing, the run is not finished, or its files are from
            another version.
    """
    if not path.is_dir():
        raise ConfigError(f"no run folder {path}; make one with `python -m eval.probe --run-dir {path}`")
    for name, lacks in (("manifest.json", "is not a run folder"), ("rows.jsonl", "has no rows")):
        if not (path / name).is_file():
            raise ConfigError(f"{path} {lacks}: it has no {name}; make one with `python -m eval.probe`")
    if not (path / "summary.json").is_file():
        raise ConfigError(f"the run in {path} is not finished: it has no summary.json; {_how_to_complete(path)}")
    try:
        manifest = _read_json(path / "manifest.json")
        summaries = tuple(_summary(task) for task in _read_json(path / "summary.json")["tasks"])
        run = Run((path,), manifest["protocol"], summaries)
        assert run.model and run.format and run.temperature >= 0
        run = replace(run, given_name=manifest["config"].get("name"), selection=_selection(manifest["selection"]))
        run = replace(run, shard=manifest["config"].get("shard"))
        run = replace(run, training=dict(manifest["sessions"][-1].get("training", {})))
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
        problem = f"{path} was not written by this version ({type(error).__name__}: {error})"
        raise ConfigError(f"{problem}; run its command again, or leave it out") from error
    return run


def read_runs(paths: Iterable[Path]) -> list[Run]:
    """The whole runs in distinct folders, in order; folders with one protocol become one run.

    Raises:
        ConfigError: as for `read_run`, a folder is a shard, or two folders of one protocol hold the same task.
    """
    runs: list[Run] = []
    for path in dict.fromkeys(path.resolve() for path in paths):
        run = read_run(path)
        if run.shard:
            raise ConfigError(
                f"{path} is shard {run.shard} of a run; merge the shards first with `python -m eval.merge`"
            )
        index = next((i for i, other in enumerate(runs) if other.protocol == run.protocol), None)
        if index is None:
            runs.append(run)
        else:
            runs[index] = _join(runs[index], run)
    return runs


def _join(run: Run, other: Run) -> Run:
    both = {summary.task for summary in run.summaries} & {summary.task for summary in other.summaries}
    if both:
        folders = " and ".join(str(path) for path in (*run.paths, *other.paths))
        raise ConfigError(f"{folders} hold {', '.join(sorted(both))} under the same protocol; leave one out")
    return replace(
        run,
        paths=(*run.paths, *other.paths),
        summaries=(*run.summaries, *other.summaries),
        selection={**run.selection, **other.selection},
    )


def _how_to_complete(path: Path) -> str:
    """The command that resumes an unfinished run from its own configuration."""
    command = shlex.join(["python", "-m", "eval.probe", "--config", f"{path / 'config.yaml'}", "--run-dir", f"{path}"])
    return f"complete it with `{command}`"


def _selection(selection: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {task: {**options, "seed": selection["seed"]} for task, options in selection["tasks"].items()}


def _summary(task: Mapping[str, Any]) -> TaskSummary:
    known = {field.name for field in fields(TaskSummary)}
    if task.keys() != known:
        raise ValueError(f"fields of a task: {', '.join(sorted(task.keys() ^ known))}")
    values: dict[str, Any] = {name: Rate(**value) if name in RATES else value for name, value in task.items()}
    return TaskSummary(**values)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path.name} is not valid JSON: {error}") from error
