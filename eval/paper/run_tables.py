"""The tables of `eval/tables/` that are built of finished runs: which there are, what they hold, or what they lack.

A module of that folder is one of them if it says what it `NEEDS`; its `build(runs)` returns no table without that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from eval import plugin
from eval.finished_runs import Run
from eval.table import Table


@dataclass(frozen=True)
class RunTable:
    """What one module made of the runs; without tables, `lacks` says why."""

    file: str
    """Name of the module and of the files to write."""
    tables: tuple[Table, ...]
    lacks: str

    @property
    def title(self) -> str:
        """Its name for a reader: "Table 1", "Instruction following"."""
        return self.file.replace("table", "table ").replace("_", " ").capitalize()


def names() -> tuple[str, ...]:
    """How tables are asked for, the paper's by their number: "1", "3", and then the others by name."""
    short = [file.removeprefix("table") for file in _modules()]
    return tuple(sorted(short, key=lambda name: (not name.isdecimal(), name)))


def build(runs: Sequence[Run], chosen: Sequence[str]) -> list[RunTable]:
    """What each of the chosen `names` makes of the runs.

    Raises:
        ConfigError: two runs can't be told apart, or a row of one can't be read.
    """
    modules = {file.removeprefix("table"): (file, module) for file, module in _modules().items()}
    return [_build(runs, *modules[name]) for name in chosen]


def _build(runs: Sequence[Run], file: str, module: ModuleType) -> RunTable:
    try:
        tables = tuple(module.build(runs))
    except FileNotFoundError as error:  # what a grader reads may be missing where runs are looked at
        return RunTable(file, (), str(error))
    return RunTable(file, tables, "" if tables else f"it needs {module.NEEDS}")


def _modules() -> dict[str, ModuleType]:
    found = {name: plugin.load("eval.tables", name) for name in plugin.names("eval.tables")}
    return {name: module for name, module in found.items() if hasattr(module, "NEEDS")}
