"""Who is told the metrics of a run while it works: a file of `eval/trackers/`. It knows none of them by name.

A run of any command is one run of a tracker, whose id is kept in the run folder and in each checkpoint, so that a
killed run goes on in the same one. Metrics stand over an axis of the run's own (`AXES`), never over a tracker's count
of calls: what a resumed run says a second time would be dropped there.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, cast

from eval import plugin
from eval.config import Plugin
from eval.run_dir import write_atomically

logger = logging.getLogger(__name__)

Kind = Literal["data_gen", "sft", "rl", "eval"]
AXES: dict[Kind, str] = {
    "data_gen": "data/conversations",
    "sft": "train/global_step",
    "rl": "train/global_step",
    "eval": "eval/temperature",
}
"""What the metrics of a run stand over, by its kind."""
TABLE_ROWS = 100
"""Rows of a table that are sent; all of them are in the run folder."""
NOBODY = Plugin(name="none")


@dataclass(frozen=True)
class TrackedRun:
    """What a tracker is told of a run when it begins."""

    name: str
    kind: Kind
    folder: Path
    config: Mapping[str, Any]

    @property
    def axis(self) -> str:
        """Name of the metric that the others stand over."""
        return AXES[self.kind]


@dataclass(frozen=True)
class Content:
    """Data, weights or rows that runs pass to each other, known by what is in them: wherever they lie, they are one."""

    kind: Literal["dataset", "model", "rows"]
    digest: str
    """Hex digits: of a model the first twelve of `model_digest`, of a file its SHA-256."""
    where: str

    @classmethod
    def of_model(cls, model_id: str, folder: Path) -> Content:
        """The weights of "name@digest"."""
        return cls("model", model_id.rpartition("@")[2], str(folder))

    @property
    def name(self) -> str:
        """Such as "model-0123456789ab"."""
        return f"{self.kind}-{self.digest[:12]}"


class Tracker(Protocol):
    """Takes what a run says of itself."""

    def log(self, at: float, metrics: Mapping[str, Any]) -> None:
        """Metrics at a point of the axis. Nested names are joined with slashes; None is left out."""

    def table(self, at: float, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Rows of text and numbers, to be looked at; no more than `TABLE_ROWS` of them are taken."""

    def used(self, contents: Iterable[Content]) -> None:
        """What the run was made from."""

    def made(self, contents: Iterable[Content]) -> None:
        """What it made, for others to use."""

    def files(self, paths: Iterable[Path], below: Path | None = None) -> None:
        """Files of the run that are kept with it; those that are not there are left out.

        Args:
            below: a folder that they lie in, below which they keep their paths; else each has its name alone.
        """

    def close(self) -> None:
        """Whatever way the run ends."""


def open_tracker(report_to: Plugin, run: TrackedRun) -> Tracker:
    """The tracker that a configuration names.

    Raises:
        ConfigError: it is not installed, or its server refuses.
    """
    return cast(Tracker, plugin.load("eval.trackers", report_to.name).Tracker(run, **report_to.options))


@contextmanager
def reporting(report_to: Plugin) -> Iterator[None]:
    """Report finished results; an error is a warning, since the results are complete without it."""
    try:
        yield
    except Exception as error:  # of a tracker, its server, or a configuration that has changed since
        again = "run the same command again to report them"
        logger.warning("not reported to %s: %s: %s; %s", report_to.name, type(error).__name__, error, again)


def project_of(given: str | None) -> str:
    """The project of a run: the one that is given, else $WANDB_PROJECT, else "userturn"."""
    return given or os.environ.get("WANDB_PROJECT") or "userturn"


def group_of(given: str | None, project: str) -> str:
    """The experiment that a run belongs to: the one that is given, else $WANDB_RUN_GROUP, else the project."""
    return given or os.environ.get("WANDB_RUN_GROUP") or project


def run_id(folder: Path, name: str) -> str:
    """The id of the run in `folder`: kept there in the file `name`, else with its last checkpoint, else a new one."""
    checkpoints = sorted(folder.glob(f"checkpoints/checkpoint-*/{name}"), key=lambda path: path.stat().st_mtime)
    for path in (folder / name, *reversed(checkpoints)):
        if path.is_file() and (kept := path.read_text(encoding="utf-8").strip()):
            break
    else:
        kept = secrets.token_hex(8)
    write_atomically(folder / name, kept + "\n")
    return kept


def data_files(files: Mapping[str, str]) -> Iterator[Content]:
    """Files of rows, given as path to SHA-256, as data sets."""
    return (Content("dataset", digest, path) for path, digest in files.items())


def flat(metrics: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """(name joined with slashes, value) of nested metrics, without those that are None."""
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}/")
        elif value is not None:
            yield f"{prefix}{name}", value
