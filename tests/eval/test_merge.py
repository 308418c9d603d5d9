"""The command ends as every command does, and says what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.merge import main


def test_a_folder_that_is_no_run_ends_with_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none"), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith(f"error: no run folder {tmp_path / 'none'}")
    assert not (tmp_path / "out").exists()


def test_a_pattern_that_matches_nothing_ends_with_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"{tmp_path}/shards/*-of-3", "--out", str(tmp_path / "out")]) == 2
    said = f"error: no folder matches {tmp_path}/shards/*-of-3; make the shards with eval.probe --shard I/N\n"
    assert capsys.readouterr().err == said
