"""Weights & Biases: one run of a project for each run folder, grouped by experiment. Imports wandb when it is opened.

Without a key, runs are offline: files below the run folder, and a line says how to send them. Contents that runs pass
to each other are artifacts named by their digest, which hold a note of it and no data: so the graph of data, models and
evaluations comes out right however the files were moved, and nothing of them leaves the machine.
"""

from __future__ import annotations

import contextlib
import json
import logging
import netrc
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from eval.config import ConfigError
from eval.tracker import TABLE_ROWS, Content, TrackedRun, flat, run_id

if TYPE_CHECKING:
    from wandb import Artifact

logger = logging.getLogger(__name__)

ID = "wandb_run_id"
SERVER = "https://api.wandb.ai"


class Tracker:
    """A run of Weights & Biases.

    Args:
        project: of the run.
        group: the experiment that it belongs to; else $WANDB_RUN_GROUP, else the project.
        mode: by default online where there is a key, unless $WANDB_MODE says otherwise.
    """

    def __init__(
        self,
        run: TrackedRun,
        *,
        project: str = "userturn",
        group: str | None = None,
        mode: Literal["online", "offline"] | None = None,
    ) -> None:
        """Begin the run, or go on with it.

        Raises:
            ConfigError: wandb is not installed, or the server refuses.
        """
        try:
            import wandb
        except ImportError as error:
            raise ConfigError("report_to is wandb, which is not installed: pip install '.[train]'") from error
        self._axis, self._folder, self._kind = run.axis, run.folder, run.kind
        self.id = run_id(run.folder, ID)
        # Of an offline run, what `wandb sync` will send lies there: by default in the home, perhaps of another machine.
        self._staging = contextlib.ExitStack()
        if "WANDB_DATA_DIR" not in os.environ:
            os.environ["WANDB_DATA_DIR"] = str(run.folder.absolute() / "wandb")
            self._staging.callback(os.environ.pop, "WANDB_DATA_DIR", None)  # the next run of this process has its own
        # Read here, since wandb reads its environment only once in a process.
        chosen: Any = mode or os.environ.get("WANDB_MODE") or (None if has_key() else "offline")
        try:
            self._run = wandb.init(
                project=project,
                group=group or os.environ.get("WANDB_RUN_GROUP") or project,
                job_type=run.kind,
                mode=chosen,
                name=run.name,
                id=self.id,
                resume="allow",
                dir=str(run.folder),
                config=dict(run.config),
                settings=wandb.Settings(console="off", silent=True, save_code=False),  # its diff has env.sh in it
            )
        except (wandb.errors.Error, OSError) as error:
            self._staging.close()
            raise ConfigError(f"wandb: {error}; try --report-to.mode offline, or --report-to none") from error
        # Steps that are made a second time after a kill would be dropped on wandb's own step axis.
        self._lost = False
        self._run.define_metric(run.axis)
        self._run.define_metric("*", step_metric=run.axis)
        logger.info("wandb run %s %s", self.id, "(offline)" if self._run.offline else self._run.url)

    def log(self, at: float, metrics: Mapping[str, Any]) -> None:
        self._send({**dict(flat(metrics)), self._axis: at})

    def table(self, at: float, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        import wandb

        shown = wandb.Table(columns=list(columns), data=[list(row) for row in rows[:TABLE_ROWS]])
        self._send({name: shown, self._axis: at})

    def used(self, contents: Iterable[Content]) -> None:
        for content in contents:
            with _told("artifact"):
                if self._run.offline:
                    # `use_artifact` refuses offline, though `wandb sync` takes it; this is what it does online.
                    self._run._log_artifact(_note(content), is_user_created=True, use_after_commit=True)
                else:
                    self._run.use_artifact(_note(content))

    def made(self, contents: Iterable[Content]) -> None:
        for content in contents:
            with _told("artifact"):
                self._run.log_artifact(_note(content))

    def files(self, paths: Iterable[Path], below: Path | None = None) -> None:
        import wandb

        with _told("artifact"):
            kept = wandb.Artifact(f"{self._kind}-files-{self.id}", type=f"{self._kind}_files")
            for path in paths:
                if path.is_file():
                    kept.add_file(str(path), name=str(path.relative_to(below)) if below else path.name)
            self._run.log_artifact(kept)

    def close(self) -> None:
        with _told("end of the run"):
            self._run.finish()
        self._staging.close()
        if self._run.offline:
            runs = sorted(self._folder.glob(f"wandb/offline-run-*-{self.id}"))
            logger.warning("metrics were kept offline; send them with `wandb sync %s`", shlex.join(map(str, runs)))

    def _send(self, metrics: Mapping[str, Any]) -> None:
        """Metrics that are not taken are told once and stop nothing: TERM to a whole job ends wandb's service first."""
        if self._lost:
            return
        try:
            self._run.log(dict(metrics))
        except Exception as error:  # of wandb, its service or the network
            self._lost = True
            logger.warning("wandb takes no metrics any more: %s: %s", type(error).__name__, error)


@contextlib.contextmanager
def _told(what: str) -> Iterator[None]:
    """What could not be kept is told, and stops nothing."""
    try:
        yield
    except Exception as error:  # of wandb, its server or the network
        logger.warning("wandb kept no %s: %s: %s", what, type(error).__name__, error)


def has_key() -> bool:
    """Whether there is a key for the server, in the environment or in the file that `wandb login` writes."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    host = urlsplit(os.environ.get("WANDB_BASE_URL", SERVER)).hostname or ""
    path = Path(os.environ.get("NETRC", "~/.netrc")).expanduser()
    try:
        return path.is_file() and netrc.netrc(path).authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False


def _note(content: Content) -> Artifact:
    """An artifact with a file that is the same wherever the content is, so that the server sees one version."""
    import wandb

    note = wandb.Artifact(content.name, type=content.kind, metadata={"where": content.where})
    with note.new_file("digest.json") as file:
        file.write(json.dumps({"kind": content.kind, "digest": content.digest}) + "\n")
    return note
