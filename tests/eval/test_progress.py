"""What the display writes: a bar in a terminal, plain lines anywhere else, nothing on request."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys

import pytest
from rich.console import Console

from eval.progress import bar, lines, shown, silent
from eval.sweep_board import Board

STAGE = (
    "from eval.progress import shown\nwith shown('judging', 3) as advance:\n    advance()\n    advance()\n    advance()"
)


class Clock:
    """A clock that goes on by itself, a fixed number of seconds a call."""

    def __init__(self, step: float) -> None:
        self.step, self.now = step, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_no_terminal_gives_plain_lines() -> None:
    out = io.StringIO()
    with shown("user turns", 4, done=1, console=Console(file=out, force_terminal=False)) as advance:
        advance()
        advance()
        advance()
    first, *_, last = out.getvalue().splitlines()
    assert first == "user turns: 1/4 rows"
    assert last.startswith("user turns: 4/4 rows, ")
    assert last.endswith(" rows/s, 0:00:00 left")
    assert "\x1b" not in out.getvalue() and "\r" not in out.getvalue()


def test_lines_come_at_most_once_per_interval() -> None:
    out = io.StringIO()
    with lines("answers", 1000, 0, out, every=100.0, clock=Clock(1.0)) as advance:
        for _ in range(1000):
            advance()
    assert 8 <= len(out.getvalue().splitlines()) <= 12


def test_rate_and_time_left_count_this_run_alone() -> None:
    out = io.StringIO()
    ticks = iter([0.0, 0.0, 10.0, 10.0, 10.0, 10.0])  # start, first line, then one row after ten seconds
    with lines("answers", 100, 90, out, every=5.0, clock=lambda: next(ticks)) as advance:
        advance()
    assert out.getvalue().splitlines()[1] == "answers: 91/100 rows, 0.10 rows/s, 0:01:30 left"


def test_an_error_still_says_how_far_it_came() -> None:
    out = io.StringIO()
    with pytest.raises(KeyboardInterrupt), lines("answers", 10, 0, out, clock=Clock(1.0)) as advance:
        advance()
        raise KeyboardInterrupt
    assert out.getvalue().splitlines()[-1].startswith("answers: 1/10 rows")


@pytest.mark.parametrize("total", [0, 7])
def test_a_stage_that_has_nothing_to_do_is_told_once(total: int) -> None:
    out = io.StringIO()
    with lines("answers", total, total, out):
        pass
    assert out.getvalue() == f"answers: {total}/{total} rows\n"


def test_a_terminal_gets_a_bar() -> None:
    out = io.StringIO()
    with bar("[bold]judging", 2, 0, Console(file=out, force_terminal=True, width=100)) as advance:
        advance()
        advance()
    assert "2/2" in out.getvalue()
    assert "[bold]judging" in out.getvalue(), "a title is text, not markup"
    assert "\x1b[" in out.getvalue()


def test_silent_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with silent("judging", 2) as advance:
        advance()
    assert capfd.readouterr() == ("", "")


def test_a_log_file_gets_no_control_codes_whatever_the_environment_forces() -> None:
    forced = {**os.environ, "FORCE_COLOR": "1", "TTY_COMPATIBLE": "1", "TERM": "xterm-256color"}
    run = subprocess.run([sys.executable, "-c", STAGE], capture_output=True, text=True, check=True, env=forced)
    assert run.stderr.startswith("judging: 0/3 rows\n")
    assert "\x1b" not in run.stderr
    assert run.stdout == "", "progress belongs on standard error"


def test_a_real_terminal_is_recognized() -> None:
    reader, writer = pty.openpty()
    plain = {
        key: value for key, value in os.environ.items() if key not in {"TTY_COMPATIBLE", "FORCE_COLOR", "NO_COLOR"}
    }
    subprocess.run([sys.executable, "-c", STAGE], stderr=writer, check=True, env={**plain, "TERM": "xterm"})
    os.close(writer)
    written = os.read(reader, 65536)
    os.close(reader)
    assert b"\x1b[" in written and b"3/3" in written


def test_the_board_of_a_sweep_shows_the_note_of_a_stage() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    board = Board(["cell"], console)
    with board.shown(), board.running("cell")("judging", 2, 1, note=lambda: "judge $1.00 of $2.00") as advance:
        advance()
        console.print(board._table())
    assert "judging 2/2, judge $1.00 of $2.00" in console.file.getvalue()


def test_a_note_stands_behind_the_counts_and_the_unit_is_named() -> None:
    out = io.StringIO()
    said = iter(["", "loss 2.10", "loss 1.90", "loss 1.90"])
    ticks = iter([0.0, 0.0, 4.0, 4.0, 4.0, 8.0, 8.0, 8.0, 8.0])
    with lines("training", 2, 0, out, 4.0, lambda: next(ticks), unit="steps", note=lambda: next(said)) as advance:
        advance()
        advance()
    first, second, *_ = out.getvalue().splitlines()
    assert first == "training: 0/2 steps"
    assert second == "training: 1/2 steps, 0.25 steps/s, 0:00:04 left, loss 2.10"
