"""A merged run is the run that one worker would have made: the same rows in the same order, the same numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from eval.config import ConfigError, validate
from eval.dialogue import Failure
from eval.probe_config import ProbeConfig
from eval.probe_run import open_rows, probe
from eval.progress import silent
from eval.rows import keyed_rows, read_rows
from eval.shard import FILE
from eval.shard_merging import merge

SHARDS = 3
Probe = Callable[..., Path]


@pytest.fixture(scope="module")
def run(tiny_model: Path) -> Probe:
    """(folder, fields) -> the folder of a finished probe of eight rows, or of its shard."""

    def probed(folder: Path, **fields: Any) -> Path:
        given = {
            "model": str(tiny_model),
            "format": "smollm2",
            "engine": {"name": "transformers", "device": "cpu"},
            "answers": {"max_tokens": 6},
            "sampling": {"max_tokens": 5, "temperature": 1.0},
            "tasks": {"pocket": {"limit": 3}},
            "run_dir": folder,
            **fields,
        }
        config = validate(ProbeConfig, given)
        probe(config, silent)
        return config.run_dir

    return probed


@pytest.fixture(scope="module")
def whole(run: Probe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def made(run: Probe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "run"
    for index in range(1, SHARDS + 1):
        run(folder, shard=f"{index}/{SHARDS}")
    return folder


@pytest.fixture
def shards(made: Path, tmp_path: Path) -> list[Path]:
    """Folders of a test's own, of all shards."""
    copytree(made, tmp_path / "run")
    return [tmp_path / "run" / "shards" / f"{index}-of-{SHARDS}" for index in range(1, SHARDS + 1)]


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_a_merged_run_is_the_run_of_one_worker(whole: Path, shards: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "run"
    merge([shards[2], shards[0], shards[1]], out)
    assert [path.relative_to(out) for path in shards] == [Path(f"shards/{i}-of-{SHARDS}") for i in (1, 2, 3)]
    assert lines(out / "rows.jsonl") == lines(whole / "rows.jsonl")
    assert sorted(lines(out / "turns.jsonl")) == sorted(lines(whole / "turns.jsonl"))
    for name in ("summary.json", "table2.md", "table2.csv", "table2.json"):
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name
    ours, theirs = (json.loads((folder / "manifest.json").read_text()) for folder in (out, whole))
    assert (ours["protocol"], ours["selection"]) == (theirs["protocol"], theirs["selection"])
    assert set(ours["sessions"][0]["shards"]) == set(map(str, shards))
    assert ours["sessions"][0]["spent_by_shards"] == {str(shard): {} for shard in shards}
    assert theirs["sessions"][0]["data_files"]
    for what in ("data_files", "training"):
        assert ours["sessions"][0][what] == theirs["sessions"][0][what], what


def test_a_merged_folder_is_complete_to_a_probe(
    run: Probe, shards: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    merge(shards, tmp_path / "run")
    before = lines(tmp_path / "run" / "rows.jsonl")
    monkeypatch.delattr("eval.generation.scheduler.Scheduler.run")
    run(tmp_path / "run")
    assert lines(tmp_path / "run" / "rows.jsonl") == before
    assert not (tmp_path / "run" / FILE).exists()


def test_merging_again_adds_nothing_and_a_killed_merge_goes_on(shards: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    merge(shards, out)
    whole = lines(out / "rows.jsonl")
    merge(shards, out)
    assert lines(out / "rows.jsonl") == whole
    (out / "rows.jsonl").write_bytes(b"".join(whole[:4]) + whole[4][:20])
    (out / "summary.json").unlink()
    merge(shards, out)
    assert lines(out / "rows.jsonl") == whole


def test_a_failure_is_replaced_by_what_is_made_later_and_not_the_other_way_round(
    shards: list[Path], tmp_path: Path
) -> None:
    rows = shards[0] / "rows.jsonl"
    key, good = next(iter(keyed_rows(rows)))
    failed = replace(good, judgement=None, failure=Failure("judge", "timeout"))
    with open_rows(rows) as store:
        store.append(key, failed)
    out = tmp_path / "out"
    summaries, _ = merge(shards, out)
    assert sum(summary.unjudged for summary in summaries) == 1
    with open_rows(rows) as store:
        store.append(key, good)
    summaries, _ = merge(shards, out)
    assert sum(summary.unjudged for summary in summaries) == 0
    with open_rows(rows) as store:
        store.append(key, failed)
    merge(shards, out)
    assert dict(keyed_rows(out / "rows.jsonl"))[key] == good


def test_rows_of_earlier_limits_stay_out(run: Probe, whole: Path, tmp_path: Path) -> None:
    for limit in (2, 3):
        parts = [run(tmp_path / "run", shard=f"{i}/2", tasks={"pocket": {"limit": limit}}) for i in (1, 2)]
    assert sum(1 for part in parts for _ in read_rows(part / "rows.jsonl")) > len(lines(whole / "rows.jsonl"))
    merge(parts, tmp_path / "out")
    assert lines(tmp_path / "out" / "rows.jsonl") == lines(whole / "rows.jsonl")


def test_shards_of_another_protocol_or_selection_are_refused(run: Probe, shards: list[Path], tmp_path: Path) -> None:
    greedy = run(tmp_path / "greedy", shard=f"3/{SHARDS}", sampling={"max_tokens": 5})
    with pytest.raises(ConfigError, match=r"differ in their protocol"):
        merge([*shards[:2], greedy], tmp_path / "out")
    fewer = run(tmp_path / "fewer", shard=f"3/{SHARDS}", tasks={"pocket": {"limit": 2}})
    with pytest.raises(ConfigError, match=r"have different data or limits"):
        merge([*shards[:2], fewer], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_merged_is_refused(whole: Path, shards: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(ConfigError, match=r"shard 2/3 is missing"):
        merge([shards[0], shards[2]], out)
    with pytest.raises(ConfigError, match=r"given twice"):
        merge([*shards, shards[0]], out)
    with pytest.raises(ConfigError, match=r"is not a shard of a run"):
        merge([whole], out)
    with pytest.raises(ConfigError, match=r"is one of the shards"):
        merge(shards, shards[0])
    (shards[1] / "summary.json").rename(tmp_path / "summary.json")
    with pytest.raises(ConfigError, match=r"is not finished.*--run-dir \S+/shards/2-of-3`"):
        merge(shards, out)
    (tmp_path / "summary.json").rename(shards[1] / "summary.json")
    (shards[1] / "rows.jsonl").write_bytes(b"".join(lines(shards[1] / "rows.jsonl")[:-1]))
    with pytest.raises(ConfigError, match=r"2-of-3 lacks its row [0-9a-f]{16}; run the shard again"):
        merge(shards, out)


def test_an_unfinished_shard_goes_on_by_the_command_that_is_named(run: Probe, shards: list[Path]) -> None:
    again = run(shards[1], shard=f"2/{SHARDS}")
    assert again == shards[1]
