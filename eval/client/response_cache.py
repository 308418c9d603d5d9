"""Replies by the hash of what was asked, on a local disk, for any number of processes of one machine at once.

An entry is written whole or not at all, and the first one for a key stays. A network file system is not supported:
SQLite's locks and shared memory do not reach from machine to machine there, and it need not notice. Knows nothing of
what is stored.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from eval.config import ConfigError

TABLE = "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"
PATIENCE_S = 60.0
"""Seconds to wait while another process writes."""


class ResponseCache:
    """A context manager over one SQLite file in write-ahead mode."""

    def __init__(self, path: Path | None) -> None:
        """Open or create the file; None keeps the entries in memory.

        Raises:
            ConfigError: the file can't be opened, is no cache, or SQLite itself declines to share it.
        """
        self.path = path
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                path or ":memory:", timeout=PATIENCE_S, isolation_level=None, check_same_thread=False
            )
            mode = self._write_ahead()
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.execute(TABLE)
        except (OSError, sqlite3.Error) as error:
            raise ConfigError(f"cache {path} can't be used ({error}); choose another file on a local disk") from error
        if path is not None and mode != "wal":
            raise ConfigError(f"cache {path} can't be shared by processes there; choose a file on a local disk")

    def _write_ahead(self) -> str:
        """Enter write-ahead mode, once every process that is creating the file has let go of it; the mode reached."""
        from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

        # SQLite waits for other writers by its own timeout, but answers "locked" at once to a change of mode.
        attempts = Retrying(
            retry=retry_if_exception(lambda error: getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY),
            wait=wait_random(0.01, 0.05),
            stop=stop_after_delay(PATIENCE_S),
            reraise=True,
        )
        return str(attempts(lambda: self._database.execute("PRAGMA journal_mode=WAL").fetchone()[0]))

    def __enter__(self) -> ResponseCache:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def get(self, key: str) -> dict[str, Any] | None:
        """The entry of `key`, or None."""
        found = self._database.execute("SELECT value FROM entries WHERE key = ?", [key]).fetchone()
        return None if found is None else json.loads(found[0])

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Store an entry of JSON values; once this returns, killing the process does not lose it."""
        self._database.execute("INSERT OR IGNORE INTO entries VALUES (?, ?)", [key, json.dumps(value)])

    def keys(self, prefix: str) -> list[str]:
        """The keys that begin with `prefix`, sorted."""
        query = "SELECT key FROM entries WHERE substr(key, 1, ?) = ? ORDER BY key"
        return [key for (key,) in self._database.execute(query, [len(prefix), prefix])]

    def remove(self, key: str) -> None:
        """Forget an entry."""
        self._database.execute("DELETE FROM entries WHERE key = ?", [key])

    def __len__(self) -> int:
        return int(self._database.execute("SELECT COUNT(*) FROM entries").fetchone()[0])
