"""The command that writes a report: where it goes, and what it says of runs that cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError
from eval.report import main, report

MakeRun = Callable[..., Path]


def test_the_command_prints_where_the_report_is(make_run: MakeRun, rows_of: Any, capsys: Any, tmp_path: Path) -> None:
    path = make_run("run", rows_of("gsm8k", 3, 1))
    assert main([str(path)]) == 0
    assert capsys.readouterr().out == f"{path / 'report.html'}\n" and (path / "report.html").is_file()
    assert main([str(path), "--out", str(tmp_path / "x.html"), "--allow-gpqa-text"]) == 0
    assert (tmp_path / "x.html").is_file()


def test_a_page_with_gated_text_is_told_to_nobody(make_run: MakeRun, rows_of: Any, capsys: Any) -> None:
    path = make_run("run", rows_of("gsm8k", 3, 1))
    assert main([str(path), "--allow-gpqa-text", "--report-to", "trackio"]) == 2
    assert "must stay private" in capsys.readouterr().err and not (path / "report.html").exists()


def test_what_cannot_work_is_said_and_leaves_the_old_report(make_run: MakeRun, rows_of: Any, capsys: Any) -> None:
    path = make_run("run", rows_of("gsm8k", 3, 1))
    assert main([str(path / "nowhere")]) == 2
    assert main([str(path), "--out", str(path / "no" / "folder.html")]) == 2
    assert main([str(path), "--out", str(path)]) == 2
    assert capsys.readouterr().err.count("error: ") == 3
    before = report([path]).read_bytes()
    with (path / "rows.jsonl").open("a") as file:
        file.write('{"key": 7}\n')
    with pytest.raises(ConfigError, match="line 4 is not a valid row"):
        report([path])
    assert (path / "report.html").read_bytes() == before
    assert not list(path.glob(".report*"))
