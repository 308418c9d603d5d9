"""The paper's published numbers, read from `eval/paper/published.yaml`.

A lookup names the table, because the paper measured some cells twice and its tables differ (for gpt-oss-20b on GPQA
Diamond, Table 1 has 1.0 and Table 5 has 20.7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True)
class PublishedTable:
    """One table: the properties of each column, and a number per column in each row."""

    columns: tuple[Mapping[str, Any], ...]
    rows: Mapping[str, tuple[float, ...]]
    model: str | None = None
    """The model of all rows; None if rows are about several models."""

    def __post_init__(self) -> None:
        for name, values in self.rows.items():
            if len(values) != len(self.columns):
                raise ValueError(f"{FILE.name}: {len(values)} values in row {name}, {len(self.columns)} columns")
        if any(self.columns.count(column) > 1 for column in self.columns):
            raise ValueError(f"{FILE.name}: two columns have the same properties")


@dataclass(frozen=True)
class Paper:
    """The paper's results, as far as available."""

    source: str
    families: Mapping[str, str]
    """Chat format -> the paper's name of the family."""
    models: tuple[str, ...]
    """In the paper's order."""
    rows: Mapping[str, int]
    """Task -> its number of rows."""
    temperatures: tuple[float, ...]
    tables: Mapping[str, PublishedTable]

    def value(self, table: str, row: str, **column: Any) -> float | None:
        """The number of `table` ("table3") in `row` and the column with exactly these properties.

        None if the paper has no such row or column, or it is not available.
        """
        published = self.tables[table]
        values = published.rows.get(row)
        if values is None or column not in published.columns:
            return None
        return values[published.columns.index(column)]


@cache
def read_paper() -> Paper:
    """The content of `eval/paper/published.yaml`."""
    import yaml

    content = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    tables = {name: _table(**table) for name, table in content.pop("tables").items()}
    content |= {"models": tuple(content["models"]), "temperatures": tuple(content["temperatures"])}
    return Paper(tables=tables, **content)


def _table(
    columns: list[Mapping[str, Any]], rows: Mapping[str, list[float]], model: str | None = None
) -> PublishedTable:
    return PublishedTable(tuple(columns), {row: tuple(values) for row, values in rows.items()}, model)
