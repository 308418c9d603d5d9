"""The folder of one run: configuration and manifest first, rows as they finish, the summary last.

One folder holds one protocol (model, format, history, sampling, judge): its rows may be added up. `summary.json` exists
only while the run is complete.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval import manifest
from eval.client.spending import spent_in
from eval.config import Config, ConfigError, dump


class RunDir:
    """Context manager that owns `path` while a run works in it, whatever way the run ends."""

    def __init__(
        self,
        path: Path,
        config: Config,
        protocol: dict[str, Any],
        selection: dict[str, Any],
        packages: tuple[str, ...] = ("eval",),
    ) -> None:
        """Claim the folder and write `config.yaml` and `manifest.json`.

        Args:
            protocol: what rows must share to be added up; a folder made with another one is refused.
            selection: `{"seed": ..., "tasks": {name: options}}`, which rows those are; a folder may get more tasks, and
                more rows of a task, not other rows.
            packages: those of the project whose log goes to `log.txt`.

        Raises:
            ConfigError: the folder is in use, can't be written, is not one for results, or holds rows of another
                protocol or selection.
        """
        refuse_working_folder(path)
        self.path = path
        self.measured: dict[str, Any] = {}
        """Figures of this session for the manifest, such as tokens by role."""
        self._started = time.monotonic()
        self._lock = _claim(path)
        try:
            self._manifest = self._renewed_manifest(protocol, selection, config)
        except BaseException:
            self._lock.close()
            raise
        (path / "summary.json").unlink(missing_ok=True)
        write_atomically(path / "config.yaml", dump(config))
        self._write_manifest()
        self._loggers = tuple(map(logging.getLogger, packages))
        self._handlers = _log_to(path / "log.txt", self._loggers)

    def __enter__(self) -> RunDir:
        return self

    def __exit__(self, *error: object) -> None:
        self.record_session()
        for handler in self._handlers:
            for logger in self._loggers:
                logger.removeHandler(handler)
            handler.close()
        self._lock.close()

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Record the wall time of a stage, even of one that is broken off, in `measured`."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.measured.setdefault("seconds", {})[stage] = round(time.monotonic() - started, 3)

    def finish(self, summary: dict[str, Any]) -> None:
        """Write `summary.json`, after everything else: whoever finds it finds a complete run."""
        self.record_session()
        write_atomically(self.path / "summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")

    def record_session(self) -> None:
        """Write wall time and figures of this session into the manifest, and what all sessions have spent."""
        session = self._manifest["sessions"][-1]
        session["wall_s"] = round(time.monotonic() - self._started, 2)
        session |= {"hardware": manifest.hardware(), **self.measured}
        self._manifest["spent"] = spent_in(self.path)
        self._write_manifest()

    def _renewed_manifest(self, protocol: dict[str, Any], selection: dict[str, Any], config: Config) -> dict[str, Any]:
        before = refuse_other(self.path, protocol, selection)
        if before is not None:
            selection = {**selection, "tasks": before["selection"]["tasks"] | selection["tasks"]}
        code = manifest.git_state(Path(__file__).parent)
        diff = code.pop("diff")
        if diff:
            write_atomically(self.path / "code.diff", diff)
        session = {"started": datetime.now(UTC).isoformat(timespec="seconds"), "command": sys.argv, "git": code}
        return {
            "protocol": protocol,
            "selection": selection,
            "config": config.model_dump(mode="json"),
            "git": code,
            "packages": manifest.packages(),
            "python": sys.version.split()[0],
            "environment": manifest.environment(os.environ),
            "spent": spent_in(self.path),
            "sessions": [*(before["sessions"] if before else []), session],
        }

    def _write_manifest(self) -> None:
        write_atomically(self.path / "manifest.json", json.dumps(self._manifest, indent=2, ensure_ascii=False) + "\n")


def refuse_working_folder(path: Path) -> None:
    """Raise a `ConfigError` if `path` is a git repository, or the current directory and not a run: an empty path is."""
    advice = "choose a folder of its own, such as runs/NAME"
    if (path / ".git").exists():
        raise ConfigError(f"{path} is the root of a git repository; {advice}")
    if path.resolve() == Path.cwd() and not (path / "manifest.json").exists():
        raise ConfigError(f"{path} is the current directory; {advice}")


def refuse_other(path: Path, protocol: dict[str, Any], selection: dict[str, Any]) -> dict[str, Any] | None:
    """The manifest of the folder `path`, None where it has none.

    Raises:
        ConfigError: it was made with another protocol or selection, and a run of these would be refused.
    """
    before = _read_manifest(path / "manifest.json")
    if before is not None:
        held = before["selection"]["tasks"]
        _refuse_other(path, "protocol", before["protocol"], protocol)
        _refuse_other(path, "seed", {"seed": before["selection"]["seed"]}, {"seed": selection["seed"]})
        _refuse_other(path, "task options", held, held | selection["tasks"])
    return before


def write_atomically(path: Path, text: str) -> None:
    """Put `text` at `path` whole or not at all, even if the machine stops meanwhile."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def write_through(folder: Path) -> None:
    """Wait until everything below `folder`, whichever process wrote it, is on the disk and not only in memory.

    Raises:
        OSError: a file cannot be written through, such as on a disk that fails.
    """
    for path in folder.rglob("*"):
        if path.is_file():
            with suppress(FileNotFoundError):  # another process has renamed it
                _fsync(path)
    for path in (*folder.rglob("*"), folder):
        if path.is_dir():
            with suppress(OSError):  # some file systems have no fsync of folders
                _fsync(path)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _claim(path: Path) -> Any:
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / ".lock").open("w")
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise ConfigError(f"another process works in {path}; wait for it or choose another folder") from error
    except OSError as error:
        lock.close()
        raise ConfigError(f"no locks on the file system of {path}: {error.strerror}; choose another folder") from error
    return lock


def _read_manifest(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        if path.with_name("rows.jsonl").exists():
            raise ConfigError(f"{path.parent} has rows and no {path.name} that says of what; choose another folder")
        return None
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(before["protocol"], dict) or not isinstance(before["sessions"], list):
            raise TypeError("protocol or sessions are of the wrong kind")
        if not isinstance(before["selection"]["tasks"], dict):
            raise TypeError("selection is of the wrong kind")
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} is not a manifest ({error}); choose another folder") from error
    return before


def _refuse_other(path: Path, what: str, before: dict[str, Any], now: dict[str, Any]) -> None:
    now = json.loads(json.dumps(now))
    if what != "protocol":
        now = {name: now[name] for name in before}
    if changed := list(differences(before, now)):
        lines = "\n".join(changed)
        raise ConfigError(f"{path} holds rows of another {what}; choose another --run-dir:\n{lines}")


def differences(before: dict[str, Any], now: dict[str, Any], within: str = "") -> Iterator[str]:
    """A line for each value that differs, by its dotted name: of a long mapping, no more than that.

    At the top, a value that is not there is as good as None: older folders lack it.
    """
    for name in sorted({*before, *now}):
        there, here = before.get(name), now.get(name)
        if isinstance(there, dict) and isinstance(here, dict):
            yield from differences(there, here, f"{within}{name}.")
        elif there != here or (within and (name in before) != (name in now)):
            yield f"  {within}{name}: {there!r} there, {here!r} now"


def _log_to(path: Path, loggers: tuple[logging.Logger, ...]) -> tuple[logging.Handler, ...]:
    """Send what the project logs to a file, and warnings to standard error too."""
    file = logging.FileHandler(path, encoding="utf-8")
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)
    terminal.setFormatter(logging.Formatter("warning: %(message)s"))
    for logger in loggers:
        logger.setLevel(logging.INFO)
        for handler in (file, terminal):
            logger.addHandler(handler)
    return file, terminal
