"""The command ends as every command does, and says what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.merge import main


def test_a_folder_that_is_no_run_ends_with_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none"), "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith(f"error: no run folder {tmp_path / 'none'}")
    assert not (tmp_path / "out").exists()
