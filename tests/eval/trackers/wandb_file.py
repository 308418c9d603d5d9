"""Reads the file that an offline run of wandb leaves: a log in the format of LevelDB, of protocol buffer records.

Blocks of 32 KiB hold chunks: a checksum (4 bytes), a length (2), a kind (1: whole, 2: first, 3: middle, 4: last), data.
The first block begins with 7 bytes of wandb's own. Source: LevelDB's doc/log_format.md.
"""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCK, HEADER, CHUNK = 32768, 7, 7


def records(path: Path) -> Iterator[Any]:
    """Every record of a .wandb file, in order."""
    from wandb.proto.wandb_internal_pb2 import Record

    for data in _logged(path.read_bytes()):
        record = Record()
        record.ParseFromString(data)
        yield record


def _logged(content: bytes) -> Iterator[bytes]:
    assert content[:4] == b":W&B", "no file of wandb"
    place, parts = HEADER, []
    while place + CHUNK <= len(content):
        if BLOCK - place % BLOCK < CHUNK:  # too little of a block is left for a chunk
            place += BLOCK - place % BLOCK
            continue
        _, length, kind = struct.unpack_from("<IHB", content, place)
        parts.append(content[place + CHUNK : place + CHUNK + length])
        place += CHUNK + length
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []


def whole(path: Path) -> list[Any]:
    """The records of a run that has ended: wandb's own process may still be writing them for a moment."""
    for _ in range(1000):
        found = list(records(path))
        if found and found[-1].HasField("exit"):
            return found
        time.sleep(0.02)
    raise AssertionError(f"{path} never ended")


class OfflineRuns:
    """What the offline runs below a run folder have logged, in the order in which they ran."""

    def __init__(self, folder: Path) -> None:
        self.files = sorted(folder.glob("wandb/offline-run-*/*.wandb"))
        self.records = [record for path in self.files for record in whole(path)]

    @property
    def runs(self) -> list[Any]:
        """The run as each process began it."""
        return [record.run for record in self.records if record.HasField("run")]

    @property
    def history(self) -> list[dict[str, Any]]:
        """The metrics of each call, by their name."""
        return [
            {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
            for record in self.records
            if record.HasField("history")
        ]

    @property
    def metrics(self) -> set[str]:
        """Every name under which something was logged."""
        return {name for line in self.history for name in line}

    @property
    def axes(self) -> dict[str, str]:
        """Metric, or a pattern of them -> what it stands over."""
        found = [record.metric for record in self.records if record.HasField("metric")]
        return {metric.name or metric.glob_name: metric.step_metric for metric in found}

    @property
    def artifacts(self) -> list[Any]:
        """Every artifact, with its `name`, `type`, `use_after_commit` (used, not made) and `manifest`."""
        return [
            record.artifact
            for record in self.records
            if record.HasField("artifact") and record.artifact.type != "run_table"
        ]

    @property
    def used(self) -> set[str]:
        return {artifact.name for artifact in self.artifacts if artifact.use_after_commit}

    @property
    def made(self) -> set[str]:
        return {artifact.name for artifact in self.artifacts if not artifact.use_after_commit}
