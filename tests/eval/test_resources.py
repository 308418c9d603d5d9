"""What probes share is opened once; what their configurations name differently is another thing."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError, validate
from eval.judges import local
from eval.probe_config import ProbeConfig
from eval.resources import ResourceCache
from eval.tasks import pocket


def config(**changes: Any) -> ProbeConfig:
    values = {"model": "m", "format": "smollm2", "run_dir": "runs/x", "tasks": {"pocket": {"limit": 2}}}
    return validate(ProbeConfig, values | changes)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which of the pocket tasks and the local judge were opened, in order."""
    opened: list[str] = []

    def noting(what: str, function: Callable) -> Callable:
        @functools.wraps(function)
        def noted(*args: Any, **kwargs: Any) -> Any:
            opened.append(what)
            return function(*args, **kwargs)

        return noted

    monkeypatch.setattr(pocket, "load", noting("pocket", pocket.load))
    monkeypatch.setattr(local.Judge, "__init__", noting("local", local.Judge.__init__))
    return opened


def test_probes_of_other_models_and_temperatures_share_data_and_judge(calls: list[str]) -> None:
    opened = ResourceCache()
    for changes in ({}, {"model": "other"}, {"sampling": {"temperature": 1.0}}, {"run_dir": "runs/y"}):
        assert len(opened.tasks(config(**changes)).dialogues) == 6
        assert opened.judge(config(**changes)) is opened.judge(config())
    assert calls == ["pocket", "local"]


@pytest.mark.parametrize("changes", [{"seed": 1}, {"tasks": {"pocket": {"limit": 1}}}, {"data_dir": Path("x")}])
def test_other_rows_are_loaded_again(calls: list[str], changes: dict[str, Any]) -> None:
    opened = ResourceCache()
    assert opened.tasks(config()) is not opened.tasks(config(**changes))
    assert calls == ["pocket", "pocket"]


def test_data_that_cannot_be_read_name_their_task(tmp_path: Path) -> None:
    (tmp_path / "gsm8k").mkdir()
    (tmp_path / "gsm8k" / "test.jsonl").write_text("{}\n")
    with pytest.raises(ConfigError, match=r"^tasks\.gsm8k: .*test\.jsonl line 1"):
        ResourceCache().tasks(config(tasks={"gsm8k": {}}, data_dir=tmp_path))


def test_rows_that_occur_twice_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pocket.load(limit=1)
    monkeypatch.setattr(pocket, "load", lambda **_: [*rows, rows[0]])
    with pytest.raises(ConfigError, match=f"1 rows occur twice in the data, first {rows[0].id}"):
        ResourceCache().tasks(config(tasks={"pocket": {}}))


def test_one_model_is_open_at_a_time_and_its_tokens_count_from_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    from eval import resources as module
    from eval.speaker import Speaker

    names: list[str] = []

    def open_speaker(config: ProbeConfig) -> Speaker:
        names.append(config.model)
        return Speaker(None, None, config.model)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "open_speaker", open_speaker)
    opened = ResourceCache()
    first = opened.speaker(config())
    first.tokens["user"] += 5
    again = opened.speaker(config(seed=3))
    assert (again.model_id, again.tokens, names) == ("m", {}, ["m"])
    for changes in ({"model": "other"}, {}, {"format": {"name": "qwen3_5", "thinking": True}}, {"history": "as_last"}):
        opened.speaker(config(**changes))
    assert names == ["m", "other", "m", "m", "m"]


def test_a_task_whose_options_leave_no_row_is_an_error(tmp_path: Path) -> None:
    """It would be missing from every table, and nobody would know why."""
    row = {"prompt_id": "p", "example_tags": [], "ideal_completions_data": None, "canary": "c"}
    turns = [{"role": role, "content": "x"} for role in ("user", "assistant", "user")]
    (tmp_path / "healthbench").mkdir()
    (tmp_path / "healthbench" / "healthbench_subset_toy.jsonl").write_text(json.dumps({**row, "prompt": turns}) + "\n")
    tasks = {"pocket": {"limit": 1}, "healthbench": {"contexts": "single_turn"}}
    with pytest.raises(ConfigError, match=r"^tasks\.healthbench has no rows; check its options"):
        ResourceCache().tasks(config(tasks=tasks, data_dir=tmp_path))
