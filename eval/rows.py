"""An append-only JSONL store of dialogues, keyed by content hash, that survives being killed at any moment.

One line is one row: `{"key": ..., <fields of the dialogue>}`. The last row of a key counts, so a retry after a failure
is just another append. Memory holds 16 bytes per row: 64 bits of its key, and its offset.
"""

from __future__ import annotations

import fcntl
import json
import os
from array import array
from collections.abc import Iterator
from pathlib import Path

from eval.dialogue import Dialogue
from eval.key_index import KeyIndex, pack, unpack


class RowStore:
    """The rows of one file: `missing` says whether a key has work to do, `append` writes a row, `get` reads it back."""

    def __init__(self, path: Path) -> None:
        """Open or create the file, drop an incomplete last line, and index the rest.

        Raises:
            ValueError: a complete line is not a valid row; the message names file and line.
            BlockingIOError: another process has the file open for writing.
        """
        self.path = path
        self._index = KeyIndex()
        """Key -> (offset of its last row, whether that row is a failure that a retry may fix), packed."""
        self._writer = path.open("ab", buffering=0)
        try:
            fcntl.flock(self._writer, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._writer.truncate(self._read())
        except BaseException:
            self._writer.close()
            raise
        self._reader = path.open("rb")

    def __enter__(self) -> RowStore:
        return self

    def __exit__(self, *error: object) -> None:
        os.fsync(self._writer.fileno())
        self._writer.close()
        self._reader.close()

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, key: str) -> bool:
        return key in self._index

    def __iter__(self) -> Iterator[Dialogue]:
        """The last row of every key, in file order, read one at a time."""
        return (self._row_at(unpack(packed, 2)[0]) for _, packed in self._index.by_number())

    def missing(self, key: str) -> bool:
        """Whether `key` has no row, or one with a failure that a retry may fix."""
        packed = self._index.get(key)
        return packed is None or unpack(packed, 2)[1] == 1

    def append(self, key: str, dialogue: Dialogue) -> None:
        """Write one row; it survives the process being killed after this returns."""
        offset = self._writer.seek(0, os.SEEK_END)
        rest = memoryview(_encode(key, dialogue))
        while rest:
            rest = rest[self._writer.write(rest) :]
        self._index_row(key, offset, dialogue)

    def get(self, key: str) -> Dialogue:
        """The last row written for `key`; `KeyError` if there is none."""
        return self._row_at(unpack(self._index[key], 2)[0])

    def _row_at(self, offset: int) -> Dialogue:
        self._reader.seek(offset)
        return _decode(self._reader.readline())[1]

    def _index_row(self, key: str, offset: int, dialogue: Dialogue) -> None:
        retriable = dialogue.failure is not None and not dialogue.failure.permanent
        self._index[key] = pack(offset, retriable, 2)

    def _read(self) -> int:
        """Index the complete lines; returns the offset after the last of them."""
        end = 0
        for key, dialogue, start, stop in _scan(self.path):
            self._index_row(key, start, dialogue)
            end = stop
        return end


def read_rows(path: Path) -> Iterator[Dialogue]:
    """The last row of every key of a store, one at a time, in file order.

    Raises:
        ValueError: a complete line is not a valid row; the message names file and line.
    """
    return (dialogue for _, dialogue in numbered_rows(path))


def numbered_rows(path: Path) -> Iterator[tuple[int, Dialogue]]:
    """The same rows, each with its line number, from 1."""
    last = _last_offsets_of_repeated(path)
    for number, (key, dialogue, start, _) in enumerate(_scan(path), start=1):
        if last.get(key, start) == start:
            yield number, dialogue


def keyed_rows(path: Path) -> Iterator[tuple[str, Dialogue]]:
    """The same rows, each with its key."""
    last = _last_offsets_of_repeated(path)
    return ((key, dialogue) for key, dialogue, start, _ in _scan(path) if last.get(key, start) == start)


def _last_offsets_of_repeated(path: Path) -> dict[str, int]:
    """Offset of the last row of every key that occurs more than once, and of some others; uses 9 bytes per row."""
    hashes = array("q", (hash(key) for key, *_ in _scan(path)))
    repeated = _repeated(hashes)
    return {key: start for key, _, start, _ in _scan(path) if hash(key) in repeated} if repeated else {}


def _repeated(hashes: array[int]) -> set[int]:
    import numpy

    ordered = numpy.asarray(hashes)
    ordered.sort()
    return set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())


def _scan(path: Path) -> Iterator[tuple[str, Dialogue, int, int]]:
    """Each complete line as (key, dialogue, offset of its first byte, offset after its last)."""
    offset = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                key, dialogue = _decode(line)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                problem = f"{path} line {number} is not a valid row: {type(error).__name__}: {error}"
                raise ValueError(f"{problem}. Delete this line and rerun to make its row again") from error
            yield key, dialogue, offset, offset + len(line)
            offset += len(line)


def _decode(line: bytes) -> tuple[str, Dialogue]:
    fields = json.loads(line)
    key = fields.pop("key")
    if not isinstance(key, str):
        raise TypeError("the key is not a string")
    return key, Dialogue.from_json(fields)


def _encode(key: str, dialogue: Dialogue) -> bytes:
    row = {"key": key, **dialogue.to_json()}
    try:
        return (json.dumps(row, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # a lone surrogate: JSON can escape it, UTF-8 cannot hold it
        return (json.dumps(row) + "\n").encode()
