"""Conversations from any JSONL file, each up to its last response."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data_gen.seeds import jsonl


def write(path: Path, *conversations: str) -> Path:
    """`conversations` as letters of roles, such as "uau"; each turn names itself."""
    roles = {"u": "user", "a": "assistant", "s": "system"}
    rows = [[{"role": roles[r], "content": f"{r}{place}"} for place, r in enumerate(text)] for text in conversations]
    path.write_text("".join(json.dumps({"messages": row, "other": 1}) + "\n" for row in rows))
    return path


def test_a_conversation_is_cut_after_its_last_response(tmp_path: Path) -> None:
    seeds = jsonl.load(file=write(tmp_path / "c.jsonl", "uau", "suaua", "ua"))
    assert sorted("".join(m.role[0] for m in seed.messages) for seed in seeds) == ["suaua", "ua"]


def test_a_relative_file_is_resolved_against_the_data_folder(tmp_path: Path) -> None:
    write(tmp_path / "c.jsonl", "ua")
    assert len(jsonl.load(data_dir=tmp_path, file=Path("c.jsonl"))) == 1
    with pytest.raises(FileNotFoundError, match="no file"):
        jsonl.load(data_dir=tmp_path, file=Path("d.jsonl"))


def test_a_conversation_without_a_response_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line 2: no assistant message"):
        jsonl.load(file=write(tmp_path / "c.jsonl", "ua", "u"))
