"""How a command ends: its status, and what it says on standard error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from eval.command import RESUMES, command
from eval.config import ConfigError


def ending_with(error: BaseException | None, **how: object) -> int:
    """The status of a command that raises `error`, or returns 1 for None."""

    @command(**how)
    def main(argv: list[str]) -> int:
        if error is not None:
            raise error
        return len(argv)

    return main(["x"])


def test_the_status_of_a_command_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending_with(None) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("error", "how", "status", "said"),
    [
        (ConfigError("no such thing"), {}, 2, "error: no such thing\n"),
        (OSError("disk"), {"unusable": (ValueError, OSError)}, 2, "error: disk\n"),
        (KeyboardInterrupt(), {}, 130, "\nstopped; run it again\n"),
        (KeyboardInterrupt(), {"stopped": RESUMES}, 130, f"\nstopped; {RESUMES}\n"),
    ],
)
def test_what_stops_it_is_told_in_a_line(
    error: BaseException, how: dict[str, object], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending_with(error, **how) == status
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize(("error", "status"), [(ConfigError("no such thing"), 2), (KeyboardInterrupt(), 130)])
def test_one_of_several_processes_says_why(
    error: BaseException, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending_with(error, speaks=lambda: False) == status
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("error", [ValueError("a defect"), OSError("a defect"), SystemExit(3)])
def test_a_defect_keeps_its_traceback(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        ending_with(error)
    assert raised.value is error


PROGRAM = """
import sys
from eval.command import command

@command()
def main():
    {body}
    return 0

sys.exit(main())
"""


def program(body: str, repository: Path) -> subprocess.Popen[str]:
    """A command with that body, in a process of its own."""
    code = [sys.executable, "-c", PROGRAM.format(body=body)]
    return subprocess.Popen(code, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("body", ["print('x')", "print('x' * 100_000)"])
def test_output_that_nobody_reads_ends_it_quietly(body: str, repository: Path) -> None:
    with program(body, repository) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_another_broken_pipe_is_a_defect(repository: Path) -> None:
    with program("raise BrokenPipeError('of a socket')", repository) as process:
        assert "BrokenPipeError: of a socket" in process.communicate()[1]
    assert process.returncode == 1
