"""Replies by the hash of their request, in a folder shared by any number of processes on any number of machines.

Each process appends to a JSONL file that no other process writes to, and reads the files of all processes when the
cache is opened. No file is rewritten and no lock is needed between machines, so the folder may be on a network file
system. Knows nothing about the content.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from itertools import count
from pathlib import Path
from string import Template
from typing import Any, BinaryIO
from uuid import uuid4

from eval.client.whole_lines import append_line
from eval.config import ConfigError

logger = logging.getLogger(__name__)

DEFAULT = "~/.cache/userturn"
"""Value of USERTURN_CACHE if it is not set."""


def expanded(path: Path) -> Path:
    """`path` with `~` and environment variables replaced."""
    variables = {**os.environ, "USERTURN_CACHE": os.environ.get("USERTURN_CACHE") or DEFAULT}
    return Path(Template(str(path)).safe_substitute(variables)).expanduser()


class ResponseCache:
    """A context manager over the entries of a folder; the first entry for a key stays.

    Entries that other processes add after it was opened are not seen. In memory it holds the lines of all entries.
    """

    def __init__(self, path: Path | None) -> None:
        """Reads and creates nothing yet.

        Args:
            path: folder; `~` and environment variables in it are expanded. None keeps the entries in memory.
        """
        self.path = None if path is None else expanded(path)
        self._file: BinaryIO | None = None
        self._lines: dict[str, bytes | None] = {}
        """By key; None for a removed entry."""

    def open(self) -> None:
        """Create the folder and read its entries, if that is not done yet; every other method calls this first.

        Raises:
            ConfigError: the folder cannot be read or written.
        """
        if self.path is None or self._file is not None:
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for file in sorted(self.path.glob("*.jsonl")):
                self._read(file)
            self._file = _claimed_file(self.path)
        except OSError as error:
            raise ConfigError(
                f"cache {self.path} can't be used ({error.strerror}); name a folder that can be written"
            ) from error

    def __enter__(self) -> ResponseCache:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def get(self, key: str) -> dict[str, Any] | None:
        """The entry of `key`, or None."""
        self.open()
        line = self._lines.get(key)
        return None if line is None else json.loads(line)["value"]

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Store an entry of JSON values; once this returns, killing the process does not lose it."""
        self.open()
        if key not in self._lines:
            self._lines[key] = self._append(key, value)

    def keys(self, prefix: str) -> list[str]:
        """The keys that begin with `prefix`, sorted."""
        self.open()
        return sorted(key for key, line in self._lines.items() if line is not None and key.startswith(prefix))

    def remove(self, key: str) -> None:
        """Remove an entry for good: a later `put` of the same key stores nothing."""
        self.open()
        if self._lines.get(key) is not None:
            self._append(key, None)
            self._lines[key] = None

    def __len__(self) -> int:
        self.open()
        return sum(line is not None for line in self._lines.values())

    def _append(self, key: str, value: dict[str, Any] | None) -> bytes:
        line = (json.dumps({"key": key, "value": value}) + "\n").encode()
        try:
            if self._file is not None:
                append_line(self._file, line)
        except OSError as error:
            raise ConfigError(
                f"cache {self.path} can't be written ({error.strerror}); free some space and start again"
            ) from error
        return line

    def _read(self, file: Path) -> None:
        damaged = 0
        with file.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break  # being written just now, or cut off by a kill
                try:
                    key, value = _entry(line)
                except (ValueError, LookupError, TypeError):
                    damaged += 1
                    continue
                if value is None:
                    self._lines[key] = None
                else:
                    self._lines.setdefault(key, line)
        if damaged:
            told = "1 line of %s is not an entry" if damaged == 1 else f"{damaged} lines of %s are not entries"
            logger.warning(f"{told} of the cache and left out", file)


def _entry(line: bytes) -> tuple[str, dict[str, Any] | None]:
    fields = json.loads(line)
    key, value = fields["key"], fields["value"]
    if not isinstance(key, str) or not isinstance(value, dict | None):
        raise TypeError("an entry is a mapping under a string")
    return key, value


def _claimed_file(folder: Path) -> BinaryIO:
    """A file that only this process writes to: that of an earlier process, if it is free, or a new one.

    File names differ between machines. Processes of one machine are kept apart by a lock, which works even on file
    systems whose locks do not reach other machines.
    """
    for number in count():
        file = (folder / f"{_kernel()}-{number}.jsonl").open("a+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            continue
        except OSError:  # no locks at all
            file.close()
            return (folder / f"{uuid4().hex}.jsonl").open("xb", buffering=0)
        if size := file.seek(0, os.SEEK_END):
            file.seek(size - 1)
            if file.read(1) != b"\n":
                file.write(b"\n")  # a kill cut off the last line
        return file
    raise AssertionError


def _kernel() -> str:
    """A name for the running kernel: no two machines share it, even if they have the same host name."""
    try:
        start = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
    except OSError:
        start = "0"
    return f"{os.uname().nodename}-{start}"
