"""Every step is logged at once; an incomplete last line is removed, and of a repeated step the last line counts."""

from __future__ import annotations

from train.training_log import TrainingLog, losses, read_log


def test_lines_are_appended_over_processes(tmp_path):
    path = tmp_path / "log.jsonl"
    with TrainingLog(path) as log:
        log.append(1, {"loss": 3.0})
        log.append(2, {"loss": 2.0})
        assert len(path.read_text().splitlines()) == 2
    with path.open("a") as file:
        file.write('{"step": 3, "lo')
    assert [line["step"] for line in read_log(path)] == [1, 2]
    with TrainingLog(path) as log:
        log.append(2, {"loss": 2.5})
        log.append(2, {"probe": {"gsm8k": {"genuine": None}}})
    assert [line["step"] for line in read_log(path)] == [1, 2, 2, 2]
    assert losses(path) == {1: 3.0, 2: 2.5}


def test_a_log_that_is_one_torn_line_is_empty(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"st')
    with TrainingLog(tmp_path / "log.jsonl"):
        assert (tmp_path / "log.jsonl").read_text() == ""
