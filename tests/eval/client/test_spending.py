"""What a run has spent outlives its processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from eval.client.chat_reply import Usage
from eval.client.spending import SpendingLog, spent_in
from eval.config import ConfigError

ENDLESS = """
import sys
from itertools import count
from pathlib import Path
from eval.client.chat_reply import Usage
from eval.client.spending import SpendingLog
log = SpendingLog(Path(sys.argv[1]), "judge")
for number in count(1):
    log.append(Usage(1, 0), 1.0)
    print(number, flush=True)
"""


def test_requests_are_added_up_by_who_sent_them(tmp_path: Path) -> None:
    assert spent_in(tmp_path) == {} and spent_in(tmp_path / "none") == {}
    judge, teacher = SpendingLog(tmp_path, "judge"), SpendingLog(tmp_path, "teacher")
    assert list(tmp_path.iterdir()) == []
    judge.append(Usage(900, 20, cached=400), 0.25)
    judge.append(Usage(100, 10), 0.5)
    judge.append(None, 1.0)
    teacher.append(Usage(7, 1), None)
    assert spent_in(tmp_path) == {
        "judge": {
            "requests": 3,
            "input_tokens": 1000,
            "cached_input_tokens": 400,
            "output_tokens": 30,
            "dollars": 1.75,
        },
        "teacher": {
            "requests": 1,
            "input_tokens": 7,
            "cached_input_tokens": 0,
            "output_tokens": 1,
            "dollars": None,
        },
    }


def test_a_later_process_begins_with_what_was_spent_before(tmp_path: Path) -> None:
    SpendingLog(tmp_path, "judge").append(Usage(1, 1), 0.5)
    SpendingLog(tmp_path, "teacher").append(Usage(1, 1), 8.0)
    later = SpendingLog(tmp_path, "judge")
    assert later.earlier == 0.5 and SpendingLog(tmp_path, "probe judge").earlier == 0
    later.append(Usage(1, 1), 0.25)
    assert later.earlier == 0.5 and SpendingLog(tmp_path, "judge").earlier == 0.75


def test_a_killed_process_has_recorded_every_request_that_was_booked(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        last = [int(writer.stdout.readline()) for _ in range(50)][-1]
        os.kill(writer.pid, signal.SIGKILL)
    assert SpendingLog(tmp_path, "judge").earlier >= last


def test_a_line_that_was_cut_off_is_replaced_by_the_next_one(tmp_path: Path) -> None:
    SpendingLog(tmp_path, "judge").append(Usage(1, 1), 0.5)
    file = tmp_path / "spent.jsonl"
    file.write_bytes(file.read_bytes() + b'{"by": "judge", "doll')
    log = SpendingLog(tmp_path, "judge")
    assert log.earlier == 0.5
    log.append(Usage(1, 1), 0.25)
    assert spent_in(tmp_path)["judge"]["dollars"] == 0.75


@pytest.mark.parametrize("line", ["{}", "5", "not json", '{"by": "judge", "dollars": "1"}'])
def test_a_line_that_records_nothing_stops_the_run(tmp_path: Path, line: str) -> None:
    """Going on without it would spend its dollars once more."""
    SpendingLog(tmp_path, "judge").append(Usage(1, 1), 0.5)
    file = tmp_path / "spent.jsonl"
    file.write_text(f"{line}\n{file.read_text()}")
    with pytest.raises(ConfigError, match=r"spent\.jsonl line 1 is not a record of spending"):
        SpendingLog(tmp_path, "judge")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"spent\.jsonl can't be written"):
        SpendingLog(tmp_path / "file", "judge").append(Usage(1, 1), 0.5)
