"""Trackio: metrics and tables in a database on this machine, shown by `trackio show`. It has no artifacts."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.config import ConfigError
from eval.tracker import TABLE_ROWS, Content, TrackedRun, flat, group_of, project_of, run_id

ID = "trackio_run_id"


class Tracker:
    """A run of Trackio, which identifies runs by name: here the name with the id that the run folder keeps.

    Args:
        project: of the run; else $WANDB_PROJECT, else "userturn".
        group: the experiment that it belongs to; else $WANDB_RUN_GROUP, else the project.
    """

    def __init__(self, run: TrackedRun, *, project: str | None = None, group: str | None = None) -> None:
        """Start or resume the run.

        Raises:
            ConfigError: trackio is not installed, or cannot start the run.
        """
        try:
            import trackio
        except ImportError as error:
            raise ConfigError("report_to is trackio, which is not installed: pip install trackio") from error
        self._axis = run.axis
        self.id = run_id(run.folder, ID)
        project = project_of(project)
        try:
            with contextlib.redirect_stdout(sys.stderr):  # its messages are not output of the command
                self._run = trackio.init(
                    project=project,
                    name=f"{run.name}-{self.id}",
                    group=group_of(group, project),
                    config={"job_type": run.kind, **run.config},
                    resume="allow",
                    embed=False,
                    auto_log_gpu=False,
                    auto_log_cpu=False,
                )
        except (OSError, ValueError) as error:
            raise ConfigError(f"trackio: {error}; or choose --report-to none") from error

    def log(self, at: float, metrics: Mapping[str, Any]) -> None:
        self._log(at, dict(flat(metrics)))

    def table(self, at: float, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        import trackio

        shown = trackio.Table(columns=list(columns), data=[list(row) for row in rows[:TABLE_ROWS]])
        self._log(at, {name: shown})

    def used(self, contents: Iterable[Content]) -> None: ...

    def made(self, contents: Iterable[Content]) -> None: ...

    def files(self, paths: Iterable[Path], below: Path | None = None) -> None: ...

    def _log(self, at: float, metrics: Mapping[str, Any]) -> None:
        step = int(at) if float(at).is_integer() else None  # its own axis takes integers only
        self._run.log({**metrics, self._axis: at}, step=step)

    def close(self) -> None:
        import trackio

        with contextlib.redirect_stdout(sys.stderr):
            trackio.finish()
