"""The interface of experiment trackers, and what they share; each is a file of `eval/trackers/`.

A run of any command is one run of the tracker. Its id is kept in the run folder and in each checkpoint, so that a
resumed run stays the same one. Metrics are logged over an axis of the run's own (`AXES`), not over the tracker's count
of calls, which would drop the steps that a resumed run repeats.
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
"""The metric on the x axis of the others, by kind of run."""
TABLE_ROWS = 100
"""The most rows of a table that are sent; all of them are in the run folder."""
NOBODY = Plugin(name="none")


@dataclass(frozen=True)
class TrackedRun:
    """What a tracker needs to start a run."""

    name: str
    kind: Kind
    folder: Path
    config: Mapping[str, Any]

    @property
    def axis(self) -> str:
        """Name of the metric on the x axis."""
        return AXES[self.kind]


@dataclass(frozen=True)
class Content:
    """Data, weights or rows that one run makes and others use, identified by a hash and not by their path."""

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
    """A run of an experiment tracker."""

    def log(self, at: float, metrics: Mapping[str, Any]) -> None:
        """Log metrics at a point of the axis. Nested names are joined with slashes; None is left out."""

    def table(self, at: float, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Log a table of text and numbers, at most the first `TABLE_ROWS` rows."""

    def used(self, contents: Iterable[Content]) -> None:
        """Record the inputs of the run."""

    def made(self, contents: Iterable[Content]) -> None:
        """Record the outputs of the run."""

    def files(self, paths: Iterable[Path], below: Path | None = None) -> None:
        """Upload files of the run; those that do not exist are left out.

        Args:
            below: folder relative to which the files are named; without it, each keeps its name alone.
        """

    def close(self) -> None:
        """End the run; called whether or not it succeeded."""


def open_tracker(report_to: Plugin, run: TrackedRun) -> Tracker:
    """The tracker of a configuration, with the run started or resumed.

    Raises:
        ConfigError: it is not installed, or cannot start the run.
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
