"""The last complete checkpoint is used; what a kill left incomplete is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from train.checkpoints import is_complete, last_checkpoint, seal


def checkpoint(folder: Path, step: int, sealed: bool = True) -> Path:
    path = folder / f"checkpoint-{step}"
    (path / "sub").mkdir(parents=True)
    for name in ("weights.bin", "sub/state.json"):
        (path / name).write_bytes(b"0" * step)
    if sealed:
        seal(path)
    return path


def test_the_latest_step_is_used(tmp_path):
    paths = {step: checkpoint(tmp_path, step) for step in (8, 100, 20)}
    assert last_checkpoint(tmp_path) == paths[100]
    assert last_checkpoint(tmp_path / "none") is None


@pytest.mark.parametrize("harm", ["unsealed", "file missing", "file short", "file more", "seal torn"])
def test_an_incomplete_one_is_removed_and_not_used(tmp_path, harm, caplog):
    whole = checkpoint(tmp_path, 10)
    torn = checkpoint(tmp_path, 20, sealed=harm != "unsealed")
    assert is_complete(torn) is (harm != "unsealed")
    if harm == "file missing":
        (torn / "weights.bin").unlink()
    elif harm == "file short":
        (torn / "sub/state.json").write_bytes(b"0")
    elif harm == "file more":
        (torn / "more").write_bytes(b"0")
    elif harm == "seal torn":
        (torn / "complete.json").write_text("{")
    assert not is_complete(torn)
    assert last_checkpoint(tmp_path) == whole
    assert not torn.exists() and "checkpoint-20 is incomplete" in caplog.text


def test_a_seal_comes_after_all_that_it_is_for_is_on_the_disk(tmp_path, monkeypatch):
    """Else a node that fails may leave files of the right size without their content."""
    written: list[int] = []
    at_seal: list[int] = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (written.append(os.fstat(file).st_ino), sync(file))[1])
    monkeypatch.setattr(os, "replace", lambda source, to: (at_seal.extend(written), replace(source, to))[1])
    sealed = checkpoint(tmp_path, 10)
    needed = [sealed, sealed / "sub", sealed / "weights.bin", sealed / "sub/state.json", sealed / "complete.json"]
    assert {path.stat().st_ino for path in needed} <= set(at_seal)
