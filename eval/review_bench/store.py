"""Review items and decisions in one SQLite file. Decisions are append-only: an undo is appended too.

A decision is on disk when `record` returns. It knows no page.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eval.config import ConfigError
from eval.labels import check_label
from eval.review_bench.decision import Decision
from eval.review_bench.items import ReviewItem

APPLICATION_ID = 0x75747277
"""Marks the SQLite file as a review; its format is `VERSION`."""
VERSION = 1
PATIENCE_S = 60.0
"""Seconds to wait for another process that writes."""

TABLES = """
CREATE TABLE review (protocol TEXT NOT NULL);
CREATE TABLE items (position INTEGER PRIMARY KEY, item TEXT NOT NULL);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,
    annotator TEXT NOT NULL,
    position INTEGER NOT NULL REFERENCES items,
    label TEXT,
    genuine INTEGER CHECK (genuine IN (0, 1)),
    undoes INTEGER UNIQUE REFERENCES decisions,
    seconds REAL,
    at TEXT NOT NULL,
    CHECK ((label IS NOT NULL) + (genuine IS NOT NULL) + (undoes IS NOT NULL) = 1)
);
CREATE VIEW standing AS SELECT * FROM decisions AS this
    WHERE undoes IS NULL AND NOT EXISTS (SELECT 1 FROM decisions WHERE undoes = this.id);
"""


class ReviewStore:
    """Context manager for an existing store; `create` makes a new one."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            ConfigError: the file is missing, or is not a review of this version.
        """
        if not path.is_file():
            raise ConfigError(f"no review {path}; start one with `python -m eval.review RUN... --sample balanced:200`")
        self.path = path
        with _config_errors(path):
            self._database = _connect(path)
            marks = [
                self._database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
            ]
            if marks != [APPLICATION_ID, VERSION]:
                self._database.close()
                raise ConfigError(f"{path} is not a review of this version; choose another --store")
            self.protocol: dict[str, Any] = json.loads(self._one("SELECT protocol FROM review"))
            self.count = int(self._one("SELECT COUNT(*) FROM items"))

    @classmethod
    def create(cls, path: Path, items: Sequence[ReviewItem], protocol: Mapping[str, Any]) -> ReviewStore:
        """Make a store of `items` atomically; `protocol` says how they were drawn.

        Raises:
            ConfigError: the file can't be written, or already exists.
        """
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        with _config_errors(path):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                _fill(temporary, items, protocol)
                if path.exists():
                    raise FileExistsError("it already exists")
                os.replace(temporary, path)
            finally:
                temporary.unlink(missing_ok=True)
        return cls(path)

    def __enter__(self) -> ReviewStore:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def item(self, position: int) -> ReviewItem:
        """The item at a position, from 1; `KeyError` if there is none."""
        found = self._one("SELECT item FROM items WHERE position = ?", position)
        if found is None:
            raise KeyError(position)
        return ReviewItem.from_json(json.loads(found))

    def items(self) -> Iterator[tuple[int, ReviewItem]]:
        """Every item with its position, in order."""
        for position, item in self._database.execute("SELECT position, item FROM items ORDER BY position"):
            yield position, ReviewItem.from_json(json.loads(item))

    def annotators(self) -> list[str]:
        """The names of everyone with decisions, sorted."""
        return [name for (name,) in self._database.execute("SELECT DISTINCT annotator FROM decisions ORDER BY 1")]

    def record(
        self,
        annotator: str,
        position: int,
        *,
        label: str | None = None,
        genuine: bool | None = None,
        seconds: float | None = None,
    ) -> None:
        """Add one decision, a label or a binary.

        Args:
            seconds: how long the item was displayed since the last decision on it.

        Raises:
            ValueError: the label is unknown, not exactly one decision is given, or there is no such item.
        """
        if label is not None:
            check_label(label)
        self._add(annotator, position, label=label, genuine=genuine, seconds=seconds)

    def undo(self, annotator: str) -> int | None:
        """Undo the annotator's last decision that is not undone yet; returns its position, or None if there is none."""
        last = "SELECT id, position FROM standing WHERE annotator = ? ORDER BY id DESC LIMIT 1"
        found = self._database.execute(last, [annotator]).fetchone()
        if found is None:
            return None
        self._add(annotator, found[1], undoes=found[0])
        return int(found[1])

    def decisions(self, annotator: str) -> dict[int, Decision]:
        """An annotator's decisions that are not undone, by position; items without any are left out."""
        parts: dict[int, dict[str, Any]] = {}
        standing = "SELECT position, label, genuine FROM standing WHERE annotator = ? ORDER BY id"
        for position, label, genuine in self._database.execute(standing, [annotator]):
            known = {"label": label} if label is not None else {"genuine": bool(genuine)}
            parts.setdefault(position, {}).update(known)
        spent = "SELECT position, SUM(seconds) FROM decisions WHERE annotator = ? GROUP BY position"
        seconds = dict(self._database.execute(spent, [annotator]).fetchall())
        return {position: Decision(**known, seconds=seconds[position]) for position, known in parts.items()}

    def _add(self, annotator: str, position: int, **fields: Any) -> None:
        values = {"annotator": annotator, "position": position, "at": datetime.now(UTC).isoformat("T", "milliseconds")}
        values |= fields
        slots = ", ".join(f":{name}" for name in values)
        try:
            self._database.execute(f"INSERT INTO decisions ({', '.join(values)}) VALUES ({slots})", values)
        except sqlite3.IntegrityError as error:
            raise ValueError(f"not a valid decision on item {position}: {error}") from error

    def _one(self, query: str, *values: Any) -> Any:
        found = self._database.execute(query, values).fetchone()
        return None if found is None else found[0]


def _fill(path: Path, items: Sequence[ReviewItem], protocol: Mapping[str, Any]) -> None:
    rows = [(position, json.dumps(item.to_json())) for position, item in enumerate(items, start=1)]
    with closing(_connect(path)) as database:
        database.execute("BEGIN")
        for statement in TABLES.split(";\n"):
            database.execute(statement)
        database.execute("INSERT INTO review VALUES (?)", [json.dumps(dict(protocol))])
        database.executemany("INSERT INTO items VALUES (?, ?)", rows)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {VERSION}")
        database.execute("COMMIT")


@contextmanager
def _config_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise ConfigError(f"{path} can't be used ({error}); choose another --store") from error


def _connect(path: Path) -> sqlite3.Connection:
    """Connect in autocommit mode: each statement is on disk when it returns."""
    database = sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    return database
