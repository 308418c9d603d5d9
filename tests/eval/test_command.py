"""How a command ends: its status, and what it says on standard error."""

from __future__ import annotations

import pytest

from eval.command import GOES_ON, command
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
        (KeyboardInterrupt(), {"stopped": GOES_ON}, 130, f"\nstopped; {GOES_ON}\n"),
    ],
)
def test_what_stops_it_is_told_in_a_line(
    error: BaseException, how: dict[str, object], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending_with(error, **how) == status
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("error", [ValueError("a defect"), OSError("a defect"), SystemExit(3)])
def test_a_defect_keeps_its_traceback(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised:
        ending_with(error)
    assert raised.value is error
