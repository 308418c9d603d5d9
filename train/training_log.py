"""The log of a run, `log.jsonl`: one line per optimizer step or probe, appended as it happens.

A run that is killed and resumed from a checkpoint repeats some steps; the last line of a step counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


class TrainingLog:
    """Append-only lines `{"step": ..., <metrics>}`; an incomplete last line from a killed process is removed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("ab", buffering=0)
        whole = path.read_bytes().rpartition(b"\n")
        self._file.truncate(len(whole[0]) + len(whole[1]))

    def __enter__(self) -> TrainingLog:
        return self

    def __exit__(self, *error: object) -> None:
        os.fsync(self._file.fileno())
        self._file.close()

    def append(self, step: int, metrics: Mapping[str, Any]) -> None:
        """Write one line; once this returns, the line survives a kill of the process."""
        self._file.write((json.dumps({"step": step, **metrics}) + "\n").encode())


class NoLog:
    """Stands in for the log on processes that do not write one; `path` is the main process's log, for reading."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, step: int, metrics: Mapping[str, Any]) -> None: ...


def read_log(path: Path) -> Iterator[dict[str, Any]]:
    """All complete lines in order, including those superseded by a later line of the same step."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.endswith("\n"))


def losses(path: Path) -> dict[int, float]:
    """The loss of each optimizer step, a mean over its trained tokens; of a repeated step, the last one."""
    return {line["step"]: line["loss"] for line in read_log(path) if "loss" in line}
