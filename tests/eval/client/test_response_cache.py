from __future__ import annotations

import fcntl
import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eval.client import response_cache
from eval.client.response_cache import ResponseCache, expanded
from eval.config import ConfigError

WRITER = """
import sys
from pathlib import Path
from eval.client.response_cache import ResponseCache
with ResponseCache(Path(sys.argv[1])) as cache:
    for number in range(300):
        cache.put(f"{number:03}", {"by": sys.argv[2], "text": "\\ud800 é" * 50})
        cache.put(f"{sys.argv[2]}-{number:03}", {"number": number})
"""
ENDLESS = """
import sys
from itertools import count
from pathlib import Path
from eval.client.response_cache import ResponseCache
with ResponseCache(Path(sys.argv[1])) as cache:
    for number in count():
        cache.put(str(number), {"number": number})
        print(number, flush=True)
"""


def on(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let caches that are opened from here on believe that they run on `machine`."""
    monkeypatch.setattr(response_cache, "_kernel", lambda: machine)


def test_an_entry_is_found_again_and_the_first_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cache"
    with ResponseCache(path) as cache:
        assert cache.get("a") is None
        cache.put("a", {"x": [1, None, "é"]})
        cache.put("a", {"x": 2})
    with ResponseCache(path) as cache:
        assert cache.get("a") == {"x": [1, None, "é"]} and len(cache) == 1
        cache.put("ab%", {})
        assert cache.keys("a") == ["a", "ab%"] and cache.keys("ab") == ["ab%"] and cache.keys("%") == []
        cache.remove("a")
        cache.remove("never there")
        assert cache.get("a") is None and len(cache) == 1
    with ResponseCache(path) as cache:
        assert cache.get("a") is None and cache.keys("") == ["ab%"]


def test_without_a_folder_it_remembers_in_memory() -> None:
    with ResponseCache(None) as cache:
        cache.put("a", {"x": 1})
        assert cache.get("a") == {"x": 1}


def test_nothing_is_read_or_made_before_the_first_use(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    cache.open()
    cache.open()
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_processes_that_run_together_write_a_file_each(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert 1 <= len(list(tmp_path.iterdir())) <= 3
    with ResponseCache(tmp_path) as cache:
        assert len(cache) == 4 * 300
        assert all(cache.get(f"{number:03}")["text"] == "\ud800 é" * 50 for number in range(300))
        assert all(cache.get(f"{name}-{number:03}") == {"number": number} for name in "abc" for number in range(300))


def test_a_process_uses_the_file_of_one_that_has_ended(tmp_path: Path) -> None:
    for number in range(5):
        with ResponseCache(tmp_path) as cache:
            cache.put(str(number), {})
    assert len(list(tmp_path.iterdir())) == 1
    with ResponseCache(tmp_path) as first, ResponseCache(tmp_path) as second:
        first.put("first", {})
        second.put("second", {})
    assert len(list(tmp_path.iterdir())) == 2


def test_machines_write_different_files_and_read_each_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lock is needed between them: those of a network file system may not reach that far."""
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    caches = []
    for machine in ("node-b", "node-a"):
        on(machine, monkeypatch)
        caches.append(ResponseCache(tmp_path))
        caches[-1].open()
    for number, cache in enumerate(caches):
        cache.put("both", {"number": number})
        cache.put(f"own {number}", {"number": number})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["node-a-0.jsonl", "node-b-0.jsonl"]
    for machine in ("node-a", "node-b", "node-c"):
        on(machine, monkeypatch)
        with ResponseCache(tmp_path) as cache:
            assert cache.get("both") == {"number": 1} and cache.get("own 0") == {"number": 0} and len(cache) == 3


def test_what_another_machine_removed_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for machine, does in (("node-b", "put"), ("node-a", "remove")):
        on(machine, monkeypatch)
        with ResponseCache(tmp_path) as cache:
            cache.put("batch/1", {}) if does == "put" else cache.remove("batch/1")
    with ResponseCache(tmp_path) as cache:
        assert cache.get("batch/1") is None and cache.keys("batch/") == []


def test_a_file_system_without_locks_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with ResponseCache(tmp_path) as first, ResponseCache(tmp_path) as second:
        first.put("a", {"by": 1})
        second.put("b", {"by": 2})
    assert len(list(tmp_path.iterdir())) >= 2
    with ResponseCache(tmp_path) as cache:
        assert cache.get("a") == {"by": 1} and cache.get("b") == {"by": 2}


def test_a_killed_process_loses_nothing_that_it_had_put(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        last = [int(writer.stdout.readline()) for _ in range(50)][-1]
        os.kill(writer.pid, signal.SIGKILL)
    with ResponseCache(tmp_path) as cache:
        assert all(cache.get(str(number)) == {"number": number} for number in range(last + 1))


def test_a_line_cut_off_by_a_kill_costs_that_entry_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with ResponseCache(tmp_path) as cache:
        cache.put("a", {"x": 1})
    [file] = tmp_path.iterdir()
    file.write_bytes(file.read_bytes() + b'{"key": "b", "val')
    with ResponseCache(tmp_path) as cache:
        assert cache.get("a") == {"x": 1} and cache.get("b") is None and not caplog.records
        cache.put("c", {"x": 3})
    with caplog.at_level(logging.WARNING), ResponseCache(tmp_path) as cache:
        assert cache.get("a") == {"x": 1} and cache.get("c") == {"x": 3} and cache.keys("") == ["a", "c"]
    assert f"1 line of {file} is not an entry" in caplog.text


def test_lines_that_are_no_entries_are_left_out_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    other = ['{"key": "a"}', '{"key": 5, "value": {}}', '{"key": "b", "value": 5}', "[]", "\0\0\0", '{"key": "c"']
    (tmp_path / "rows.jsonl").write_text("\n".join([*other, json.dumps({"key": "d", "value": {"x": 1}}), ""]))
    with caplog.at_level(logging.WARNING), ResponseCache(tmp_path) as cache:
        assert cache.keys("") == ["d"]
    assert "6 lines of" in caplog.text and "rows.jsonl are not entries" in caplog.text


def test_a_path_that_cannot_be_a_cache_is_named(tmp_path: Path) -> None:
    path = tmp_path / "judgements"
    path.write_text("a file")
    with pytest.raises(ConfigError, match=r"judgements can't be used \(File exists\); name a folder"):
        ResponseCache(path).open()
    with pytest.raises(ConfigError, match="can't be used"):
        ResponseCache(path / "below").open()


def test_a_full_disk_is_said_in_a_line(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    cache.open()
    with Path("/dev/full").open("ab", buffering=0) as full:
        cache._file = full
        with pytest.raises(ConfigError, match=r"can't be written \(No space left on device\)"):
            cache.put("a", {})


def test_the_folder_may_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("SCRATCH", "/scratch/ann")
    for name in ("USERTURN_CACHE", "UNKNOWN"):
        monkeypatch.delenv(name, raising=False)
    assert expanded(Path("$USERTURN_CACHE/judgements")) == Path("/home/ann/.cache/userturn/judgements")
    monkeypatch.setenv("USERTURN_CACHE", "")
    assert expanded(Path("$USERTURN_CACHE/judgements")) == Path("/home/ann/.cache/userturn/judgements")
    monkeypatch.setenv("USERTURN_CACHE", "/shared/lab")
    assert expanded(Path("$USERTURN_CACHE/judgements")) == Path("/shared/lab/judgements")
    assert expanded(Path("$SCRATCH/judgements")) == Path("/scratch/ann/judgements")
    assert expanded(Path("~/j")) == Path("/home/ann/j") and expanded(Path("j/$UNKNOWN")) == Path("j/$UNKNOWN")
