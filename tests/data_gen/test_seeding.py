"""Seeds of several sources: errors name the source, and no evaluation row becomes a seed."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from data_gen.seeding import load_seeds
from eval import plugin
from eval.config import ConfigError

SOURCES = plugin.names("data_gen.seeds")


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_meets_the_contract(name: str) -> None:
    source = plugin.load("data_gen.seeds", name)
    parameters = inspect.signature(source.load).parameters
    assert list(parameters)[:3] == ["limit", "seed", "data_dir"]
    assert all(p.kind is p.KEYWORD_ONLY for p in list(parameters.values())[2:])
    assert inspect.signature(source.load).return_annotation == "list[Dialogue]"
    assert source.LICENCE and source.ORIGIN


def test_seeds_come_by_source(evaluation_dir: Path) -> None:
    seeds = load_seeds({"gsm8k": {"limit": 3}, "written": {"limit": 5}}, 0, evaluation_dir)
    assert {name: len(found) for name, found in seeds.items()} == {"gsm8k": 3, "written": 5}


def test_an_error_names_the_source(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"seeds\.jsonl: no file"):
        load_seeds({"jsonl": {"file": tmp_path / "none.jsonl"}}, 0, None)
    with pytest.raises(ConfigError, match=r"seeds\.written: limit is 0"):
        load_seeds({"written": {"limit": 0}}, 0, None)


def test_a_conversation_that_two_sources_have_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from data_gen.seeds import written

    monkeypatch.setattr(plugin, "load", lambda package, name: written)
    with pytest.raises(ConfigError, match="4 seeds occur twice"):
        load_seeds({"written": {"limit": 4}, "again": {"limit": 4}}, 0, None)


def test_a_file_may_repeat_itself(tmp_path: Path) -> None:
    row = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}
    (tmp_path / "c.jsonl").write_text(f"{json.dumps(row)}\n" * 3)
    assert len(load_seeds({"jsonl": {"file": tmp_path / "c.jsonl"}}, 0, None)["jsonl"]) == 1
