"""The tables of `eval/tables/` that are built from finished runs: their names, and what a set of runs yields.

These are the modules of that folder with a constant `NEEDS`; their `build(runs)` returns no table if that is missing.
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
    """The tables of one module; if there are none, `lacks` says why."""

    file: str
    """Name of the module, and of the files to write."""
    tables: tuple[Table, ...]
    lacks: str

    @property
    def title(self) -> str:
        """Its display name: "Table 1", "Instruction following"."""
        return self.file.replace("table", "table ").replace("_", " ").capitalize()


def names() -> tuple[str, ...]:
    """The names of the tables: the paper's by number ("1", "3"), then the others."""
    short = [file.removeprefix("table") for file in _modules()]
    return tuple(sorted(short, key=lambda name: (not name.isdecimal(), name)))


def build(runs: Sequence[Run], chosen: Sequence[str]) -> list[RunTable]:
    """Build the tables with the `chosen` names from the runs.

    Raises:
        ConfigError: two runs would fill the same cell, or a row of a run can't be read.
    """
    modules = {file.removeprefix("table"): (file, module) for file, module in _modules().items()}
    return [_build(runs, *modules[name]) for name in chosen]


def _build(runs: Sequence[Run], file: str, module: ModuleType) -> RunTable:
    try:
        tables = tuple(module.build(runs))
    except FileNotFoundError as error:  # the data of a grader may be missing on this machine
        return RunTable(file, (), str(error))
    return RunTable(file, tables, "" if tables else f"it needs {module.NEEDS}")


def _modules() -> dict[str, ModuleType]:
    found = {name: plugin.load("eval.tables", name) for name in plugin.names("eval.tables")}
    return {name: module for name, module in found.items() if hasattr(module, "NEEDS")}
