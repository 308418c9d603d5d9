"""A full disk stops a run before it starts."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from eval.checks.disk import disk_check, nearest
from eval.checks.finding import examine


@pytest.mark.parametrize(("free", "status"), [(3e9, "fail"), (5e9, "warn"), (50e9, "pass")])
def test_what_is_needed_is_compared_with_what_is_free(tmp_path, monkeypatch, free, status) -> None:
    asked = []
    monkeypatch.setattr(shutil, "disk_usage", lambda path: asked.append(path) or SimpleNamespace(free=free))
    ((_, finding),) = examine([disk_check(tmp_path / "a" / "b", lambda: (3 * 10**9, "2 checkpoints"))])
    assert finding.status == status and "4.00 GB needed at most (2 checkpoints)" in finding.told
    assert asked == [tmp_path]  # the run folder does not exist yet


def test_the_nearest_folder_that_exists(tmp_path) -> None:
    assert nearest(tmp_path / "x" / "y") == tmp_path and nearest(tmp_path) == tmp_path


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    ((_, finding),) = examine([disk_check(tmp_path / "a", lambda: (1, "rows"))])
    assert finding.status == "fail" and "can't be written" in finding.told
