"""A run folder holds one protocol, tells what made it, and has a summary only when it is complete."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
import yaml
from pydantic import Field

from eval.client.chat_reply import Usage
from eval.client.spending import SpendingLog
from eval.config import Config, ConfigError
from eval.run_dir import RunDir, write_atomically


class Toy(Config):
    run_dir: Path = Field(description="folder")
    limit: int = Field(3, description="rows")


PROTOCOL = {"model": "m@1", "sampling": {"temperature": 0.0}}
SELECTION = {"seed": 0, "tasks": {"gsm8k": {"version": 1, "split": "test"}}}


def read(path: Path) -> dict:
    return json.loads(path.read_text())


def test_configuration_and_manifest_come_before_the_work(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "x"
    with RunDir(folder, Toy(run_dir=folder), PROTOCOL, SELECTION):
        assert yaml.safe_load((folder / "config.yaml").read_text()) == {"run_dir": str(folder), "limit": 3}
        manifest = read(folder / "manifest.json")
        assert (manifest["protocol"], manifest["selection"]) == (PROTOCOL, SELECTION)
        assert manifest["packages"]["pydantic"]
        assert len(manifest["sessions"]) == 1
        assert not (folder / "summary.json").exists()


def test_every_session_is_recorded_also_one_that_is_broken_off(tmp_path: Path) -> None:
    opened = RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION)
    with pytest.raises(KeyboardInterrupt), opened as run, run.timed("work"):
        run.measured["tokens"] = {"user": 5}
        raise KeyboardInterrupt
    with RunDir(tmp_path, Toy(run_dir=tmp_path, limit=9), PROTOCOL, SELECTION) as run:
        run.finish({"n": 1})
    first, second = read(tmp_path / "manifest.json")["sessions"]
    assert first["tokens"] == {"user": 5}
    assert first["seconds"]["work"] >= 0
    assert first["wall_s"] >= 0 and second["wall_s"] >= 0
    assert second["hardware"]["cores"] >= 1
    assert read(tmp_path / "manifest.json")["config"]["limit"] == 9


def test_the_manifest_says_what_all_sessions_have_spent_also_one_that_was_killed(tmp_path: Path) -> None:
    SpendingLog(tmp_path, "judge").append(Usage(900, 20), 0.5)  # by a session that recorded nothing else
    with RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION):
        assert read(tmp_path / "manifest.json")["spent"]["judge"]["dollars"] == 0.5
        SpendingLog(tmp_path, "teacher").append(Usage(900, 20), 0.25)
    spent = read(tmp_path / "manifest.json")["spent"]
    assert spent["judge"]["output_tokens"] == 20 and spent["teacher"]["dollars"] == 0.25


def test_a_summary_is_there_only_while_the_run_is_complete(tmp_path: Path) -> None:
    with RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION) as run:
        run.finish({"n": 1})
    assert read(tmp_path / "summary.json") == {"n": 1}
    with RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION):
        assert not (tmp_path / "summary.json").exists()


def test_another_protocol_is_refused_with_its_differences(tmp_path: Path) -> None:
    with RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION):
        pass
    other = {"model": "m@1", "sampling": {"temperature": 0.7}}
    with pytest.raises(
        ConfigError, match=r"(?s)another protocol.*--run-dir:\n  sampling\.temperature: 0\.0 there, 0\.7 now$"
    ) as error:
        RunDir(tmp_path, Toy(run_dir=tmp_path), other, SELECTION)
    assert "model" not in str(error.value)
    with RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION):
        pass


def test_a_setting_that_is_none_is_not_one_that_is_left_out(tmp_path: Path) -> None:
    with RunDir(tmp_path, Toy(run_dir=tmp_path), {**PROTOCOL, "trl": {"a": 1, "b": None}, "new": None}, SELECTION):
        pass
    with pytest.raises(ConfigError, match=r"--run-dir:\n  trl\.b: None there, None now$"):
        RunDir(tmp_path, Toy(run_dir=tmp_path), {**PROTOCOL, "trl": {"a": 1}}, SELECTION)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({**SELECTION, "seed": 1}, r"(?s)another seed.*0 there, 1 now"),
        ({"seed": 0, "tasks": {"gsm8k": {"version": 1, "split": "train"}}}, r"(?s)another task options.*test.*train"),
        (
            {"seed": 0, "tasks": {"gsm8k": {"version": 2, "split": "test"}}},
            r"(?s)another task options.*:\n  gsm8k\.version: 1 there, 2 now$",
        ),
    ],
)
def test_other_rows_of_the_data_are_refused(tmp_path: Path, other: dict, message: str) -> None:
    with RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION):
        pass
    with pytest.raises(ConfigError, match=message):
        RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, other)


def test_a_folder_may_get_more_tasks(tmp_path: Path) -> None:
    with RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION):
        pass
    with RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, {"seed": 0, "tasks": {"pocket": {"version": 1}}}):
        pass
    assert set(read(tmp_path / "manifest.json")["selection"]["tasks"]) == {"gsm8k", "pocket"}


def test_two_processes_cannot_share_a_folder(tmp_path: Path) -> None:
    busy = pytest.raises(ConfigError, match="another process works in")
    with RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION), busy:
        RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION)


def test_a_repository_and_the_current_directory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository, place = tmp_path / "repository", tmp_path / "place"
    for folder in (repository / ".git", place):
        folder.mkdir(parents=True)
    (repository / "summary.json").touch()
    monkeypatch.chdir(place)
    for path, says in (
        (Path(""), r"\. is the current directory"),
        (place, "place is the current directory"),
        (Path("../repository"), r"\.\./repository is the root of a git repository"),
    ):
        with pytest.raises(ConfigError, match=f"{says}.*; choose a folder of its own, such as runs/NAME$"):
            RunDir(path, Toy(run_dir=path), PROTOCOL, SELECTION)
    assert not list(place.iterdir()) and len(list(repository.iterdir())) == 2


def test_folders_with_other_files_are_accepted_and_so_is_the_current_directory_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shards" / "1-of-2").mkdir(parents=True)
    (tmp_path / "slurm-1.out").touch()
    with RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION):
        pass
    monkeypatch.chdir(tmp_path)
    with RunDir(Path(), Toy(run_dir=Path()), PROTOCOL, SELECTION):
        pass


@pytest.mark.parametrize("text", ["{", "[]", '{"protocol": 3, "sessions": []}'])
def test_a_damaged_manifest_is_a_named_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ConfigError, match=r"manifest\.json is not a manifest"):
        RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION)


def test_rows_of_which_nothing_says_what_they_are_are_not_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").touch()
    with pytest.raises(ConfigError, match=r"has rows and no manifest\.json .*; choose another folder"):
        RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION)
    assert not (tmp_path / "manifest.json").exists()


def test_a_folder_that_cannot_be_is_a_named_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="can't be written"):
        RunDir(tmp_path / "file" / "run", Toy(run_dir=tmp_path), PROTOCOL, SELECTION)


def test_libraries_log_into_the_folder(tmp_path: Path) -> None:
    with RunDir(tmp_path, Toy(run_dir=tmp_path), PROTOCOL, SELECTION):
        logging.getLogger("eval.anything").warning("halved the batch")
    logging.getLogger("eval.anything").warning("after the run")
    assert "halved the batch" in (tmp_path / "log.txt").read_text()
    assert "after the run" not in (tmp_path / "log.txt").read_text()


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.md", "one")
    write_atomically(tmp_path / "a.md", "two é")
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == "two é"
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]
