from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from eval.client.response_cache import ResponseCache
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


def test_an_entry_is_found_again_and_the_first_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cache.sqlite"
    with ResponseCache(path) as cache:
        assert cache.get("a") is None
        cache.put("a", {"x": [1, None, "é"]})
        cache.put("a", {"x": 2})
    with ResponseCache(path) as cache:
        assert cache.get("a") == {"x": [1, None, "é"]} and len(cache) == 1
        cache.put("ab%", {})
        assert cache.keys("a") == ["a", "ab%"] and cache.keys("ab") == ["ab%"] and cache.keys("%") == []
        cache.remove("a")
        assert cache.get("a") is None


def test_without_a_file_it_remembers_in_memory() -> None:
    with ResponseCache(None) as cache:
        cache.put("a", {"x": 1})
        assert cache.get("a") == {"x": 1}


def test_several_processes_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, name]) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    with ResponseCache(path) as cache:
        assert len(cache) == 4 * 300
        assert all(cache.get(f"{number:03}")["text"] == "\ud800 é" * 50 for number in range(300))
        assert all(cache.get(f"{name}-{number:03}") == {"number": number} for name in "abc" for number in range(300))


def test_it_waits_while_another_process_creates_the_file(tmp_path: Path) -> None:
    creator = sqlite3.connect(tmp_path / "cache.sqlite", isolation_level=None, check_same_thread=False)
    creator.execute("BEGIN IMMEDIATE")
    creator.execute("CREATE TABLE started (here)")
    Timer(0.2, lambda: creator.execute("COMMIT")).start()
    with ResponseCache(tmp_path / "cache.sqlite") as cache:
        cache.put("key", {"said": "yes"})
        assert cache.get("key") == {"said": "yes"}


def test_a_killed_process_loses_nothing_that_it_had_put(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with subprocess.Popen([sys.executable, "-c", ENDLESS, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        last = [int(writer.stdout.readline()) for _ in range(50)][-1]
        os.kill(writer.pid, signal.SIGKILL)
    with ResponseCache(path) as cache:
        assert all(cache.get(str(number)) == {"number": number} for number in range(last + 1))


def test_a_file_that_is_no_cache_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be taken for one" * 100)
    with pytest.raises(ConfigError, match=r"notes\.txt"):
        ResponseCache(path)
    with pytest.raises(ConfigError, match="can't be used"):
        ResponseCache(path / "below")


def test_a_file_system_without_shared_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere(sqlite3.Connection):
        def execute(self, sql: str, *args: object) -> sqlite3.Cursor:
            return super().execute("PRAGMA journal_mode=DELETE" if "WAL" in sql else sql, *args)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, factory=Elsewhere, **options))
    with pytest.raises(ConfigError, match="local disk"):
        ResponseCache(tmp_path / "cache.sqlite")
