"""Weights & Biases: one run of a project for each run folder, grouped by experiment. Imports wandb when it is opened.

Without a key or a server that answers, runs are offline: files below the run folder, and a warning says how to send
them. What runs pass to each other are artifacts that are named by its digest and contain only that: so the lineage
of data, models and evaluations is right even if files were moved, and no data leaves the machine.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from eval.config import ConfigError
from eval.tracker import TABLE_ROWS, Content, TrackedRun, flat, group_of, project_of, run_id
from eval.wandb_server import start_run

if TYPE_CHECKING:
    from wandb import Artifact

logger = logging.getLogger(__name__)

ID = "wandb_run_id"
FINISH_S = 300.0
"""Seconds that the end of a run waits for metrics and files to be sent."""


class Tracker:
    """A run of Weights & Biases.

    Args:
        project: of the run; else $WANDB_PROJECT, else "userturn".
        group: the experiment that it belongs to; else $WANDB_RUN_GROUP, else the project.
        mode: by default online where there is a key and the server answers, unless $WANDB_MODE says otherwise.
    """

    def __init__(
        self,
        run: TrackedRun,
        *,
        project: str | None = None,
        group: str | None = None,
        mode: Literal["online", "offline"] | None = None,
    ) -> None:
        """Start or resume the run.

        Raises:
            ConfigError: wandb is not installed, or the mode is online and the server does not accept the run.
        """
        try:
            import wandb
        except ImportError as error:
            raise ConfigError("report_to is wandb, which is not installed: pip install '.[train]'") from error
        self._axis, self._folder, self._kind = run.axis, run.folder, run.kind
        self.id = run_id(run.folder, ID)
        self._staging = _stage_artifacts(run.folder)
        project = project_of(project)
        try:
            self._run = start_run(
                mode or os.environ.get("WANDB_MODE"),  # wandb reads its environment only once in a process
                project=project,
                group=group_of(group, project),
                job_type=run.kind,
                name=run.name,
                id=self.id,
                resume="allow",
                dir=str(run.folder),
                config=dict(run.config),
                settings=wandb.Settings(
                    console="off",
                    silent=True,
                    save_code=False,  # its diff would contain slurm/env.sh
                    finish_timeout=FINISH_S,
                    finish_timeout_raises=True,
                ),
            )
        except (wandb.errors.Error, OSError) as error:
            self._staging.close()
            raise ConfigError(f"wandb: {error}; try --report-to.mode offline, or --report-to none") from error
        self._lost = False
        self._rejected: set[str] = set()
        # On wandb's own step axis, the steps that a resumed run repeats would be dropped.
        self._run.define_metric(run.axis)
        self._run.define_metric("*", step_metric=run.axis)
        logger.info("wandb run %s %s", self.id, "(offline)" if self._run.offline else self._run.url)

    def log(self, at: float, metrics: Mapping[str, Any]) -> None:
        self._send({**dict(flat(metrics)), self._axis: at})

    def table(self, at: float, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        import wandb

        with _warns("table"):
            data = [list(row) for row in rows[:TABLE_ROWS]]
            self._send({name: wandb.Table(columns=list(columns), data=data, allow_mixed_types=True), self._axis: at})

    def used(self, contents: Iterable[Content]) -> None:
        for content in contents:
            with _warns("artifact"):
                if self._run.offline:
                    # `use_artifact` raises offline, though `wandb sync` can send it; this is what it does online.
                    self._run._log_artifact(_note(content), is_user_created=True, use_after_commit=True)
                else:
                    self._run.use_artifact(_note(content))

    def made(self, contents: Iterable[Content]) -> None:
        for content in contents:
            with _warns("artifact"):
                self._run.log_artifact(_note(content))

    def files(self, paths: Iterable[Path], below: Path | None = None) -> None:
        import wandb

        with _warns("artifact"):
            kept = wandb.Artifact(f"{self._kind}-files-{self.id}", type=f"{self._kind}_files")
            for path in paths:
                if path.is_file():
                    kept.add_file(str(path), name=str(path.relative_to(below)) if below else path.name)
            self._run.log_artifact(kept)

    def close(self) -> None:
        with _warns("end of the run"):
            try:
                self._run.finish()
            except TimeoutError:
                kept = shlex.quote(str(Path(self._run.dir).parent))
                advice = f"send it with `wandb sync --include-online {kept}`"
                logger.warning("wandb did not send everything in %d s; %s", FINISH_S, advice)
        self._staging.close()
        if self._run.offline:
            kept = shlex.quote(str(self._folder / "wandb"))
            logger.warning("metrics were kept offline; send them with `wandb sync %s`", kept)

    def _send(self, metrics: Mapping[str, Any]) -> None:
        """Log metrics at one point. Values that wandb rejects are left out with a warning.

        If it rejects the point alone, too, its service process has ended: TERM to a whole job ends it before the run.
        """
        if self._lost or (error := self._error_of(metrics)) is None:
            return
        point = {self._axis: metrics[self._axis]}
        names = sorted(metrics.keys() - point)
        if self._error_of(point) is not None:
            self._lost = True
            logger.warning("wandb has stopped, further metrics are not logged: %s: %s", type(error).__name__, error)
        elif len(names) > 1:
            for name in names:
                self._send({name: metrics[name], **point})
        elif not self._rejected.issuperset(names):
            self._rejected.update(names)
            logger.warning("wandb rejects %s: %s: %s", *names, type(error).__name__, error)

    def _error_of(self, metrics: Mapping[str, Any]) -> Exception | None:
        try:
            self._run.log(dict(metrics))
        except Exception as error:  # of wandb, its service, the network, or a value that it cannot encode
            return error
        return None


@contextlib.contextmanager
def _warns(what: str) -> Iterator[None]:
    """Turn an error into a warning: tracking must not stop a run."""
    try:
        yield
    except Exception as error:  # of wandb, its server or the network
        logger.warning("wandb could not save the %s: %s: %s", what, type(error).__name__, error)


def _note(content: Content) -> Artifact:
    """An artifact whose file does not depend on the path of the content, so that the server sees one version."""
    import wandb

    note = wandb.Artifact(content.name, type=content.kind, metadata={"where": content.where})
    with note.new_file("digest.json") as file:
        file.write(json.dumps({"kind": content.kind, "digest": content.digest}) + "\n")
    return note


def _stage_artifacts(folder: Path) -> contextlib.ExitStack:
    """Have wandb stage artifacts in the run folder until the stack is closed, unless WANDB_DATA_DIR says otherwise.

    `wandb sync` sends an offline run's artifacts from there; the default is a home, perhaps of another node.
    """
    staging = contextlib.ExitStack()
    if "WANDB_DATA_DIR" not in os.environ:
        os.environ["WANDB_DATA_DIR"] = str(folder.absolute() / "wandb")
        staging.callback(os.environ.pop, "WANDB_DATA_DIR", None)  # the next run of this process sets its own
    return staging
