"""A line is written whole, also by a file that takes a few bytes at a time."""

from __future__ import annotations

import io

from eval.client.whole_lines import append_line


class Slow(io.BytesIO):
    """Takes at most three bytes a call, as a file may when a signal arrives."""

    def write(self, data) -> int:
        return super().write(bytes(data[:3]))


def test_a_line_is_written_whole_however_little_the_file_takes() -> None:
    file = Slow()
    append_line(file, b"a line\n")
    append_line(file, b"x\n")
    assert file.getvalue() == b"a line\nx\n"
