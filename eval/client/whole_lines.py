"""Append whole lines to a file without a buffer, so that killing the process loses none that was written."""

from __future__ import annotations

from typing import BinaryIO


def append_line(file: BinaryIO, line: bytes) -> None:
    """Write all of `line` to an unbuffered file, whose `write` may take only a part of it.

    Raises:
        OSError: the file can't be written.
    """
    rest = memoryview(line)
    while rest:
        rest = rest[file.write(rest) :]
