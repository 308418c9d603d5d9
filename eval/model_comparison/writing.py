"""The files of a comparison: the table in four formats, a page for each cell, and the list of sources.

All of them are functions of the rows, so `render` can recompute any of them for a check.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eval.config import ConfigError
from eval.model_comparison.comparison import Comparison, compare_models
from eval.model_comparison.correction import Correction, correct
from eval.model_comparison.evidence import page, page_of
from eval.model_comparison.labelled_sample import Decided, Decisions
from eval.model_comparison.measured_model import read_distinct
from eval.paper.writing import WRITERS
from eval.run_dir import write_atomically
from eval.table import Table, each_note_once
from eval.table_formats import to_markdown
from eval.tables.table2_models import build

NAME = "table2"
SOURCES = f"{NAME}.sources.json"
DECISIONS = f"{NAME}.judged_labels.json"
"""The judges' decisions on labelled items that are not rows of their runs, by judge and by content hash."""


@dataclass(frozen=True)
class Sources:
    """The inputs of a table: run folders in order, and whether runs of other protocols are allowed."""

    runs: tuple[Path, ...]
    cross: tuple[Path, ...] = ()
    force: bool = False
    labels: Path | None = None
    """Gold file for corrected rates."""

    def compare(self) -> Comparison:
        """Read the runs and compare them.

        Raises:
            ConfigError: a run is missing, unfinished or of another protocol.
        """
        found = read_distinct([*self.runs, *self.cross])
        crossed = {path.resolve() for path in self.cross}
        own = [run for run in found if not crossed.intersection(run.paths)]
        return compare_models(own, [run for run in found if run not in own], self.force)

    def correct(self, comparison: Comparison, decisions: Decisions | None = None) -> Correction | None:
        """The corrected rates if there are labels; `decisions` as in `correction.correct`."""
        return correct(comparison, self.labels, decisions) if self.labels else None

    def to_json(self, folder: Path) -> dict[str, Any]:
        """As JSON, with paths relative to `folder`, so that both can be moved together, and SHA-256 of the rows."""

        def relative(paths: tuple[Path, ...]) -> list[str]:
            return [os.path.relpath(path.resolve(), folder.resolve()) for path in paths]

        every = (*self.runs, *self.cross)
        digests = dict(zip(relative(every), map(rows_digest, every), strict=True))
        return {
            "runs": relative(self.runs),
            "cross": relative(self.cross),
            "force": self.force,
            "rows_sha256": digests,
            **(
                {"labels": relative((self.labels,))[0], "labels_sha256": rows_digest(self.labels)}
                if self.labels
                else {}
            ),
        }


def rows_digest(path: Path) -> str:
    """SHA-256 of the rows of a run folder, or of a labels file."""
    with (path / "rows.jsonl" if path.is_dir() else path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tables_of(comparison: Comparison, correction: Correction | None = None) -> list[Table]:
    """The tables, with links to the page of each cell."""
    return build(comparison, lambda cell: page_of(comparison, cell), correction)


def render(comparison: Comparison, folder: Path, correction: Correction | None = None) -> dict[str, str]:
    """The content of every file of the table except its sources, by path relative to `folder`."""
    tables = each_note_once(tables_of(comparison, correction))
    files = {f"{NAME}.{ending}": to_text(tables) for ending, to_text in WRITERS.items()}
    for cell in (*comparison.cells, *comparison.cross):
        if cell.outcomes:
            path = page_of(comparison, cell)
            files[path] = to_markdown(page(comparison, cell, (folder / path).parent))
    if correction:
        decisions = {judge: asdict(decided) for judge, decided in correction.sample.decisions.items()}
        files[DECISIONS] = json.dumps(decisions, indent=1, sort_keys=True) + "\n"
    return files


def write(sources: Sources, comparison: Comparison, folder: Path, correction: Correction | None = None) -> list[Path]:
    """Write all files, the sources last; returns their paths.

    Raises:
        ConfigError: `folder` is a run folder, or can't be written.
    """
    if (folder / "rows.jsonl").exists():
        raise ConfigError(f"--out {folder} is a run folder, whose own table would be overwritten; choose another")
    files = render(comparison, folder, correction)
    files[SOURCES] = json.dumps(sources.to_json(folder), indent=2, ensure_ascii=False) + "\n"
    try:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / name, text)
    except OSError as error:
        raise ConfigError(f"--out {folder} can't be written: {error.strerror}; choose another") from error
    return [folder / name for name in files]


def read_sources(folder: Path) -> tuple[Sources, dict[str, str]]:
    """The inputs of the table in `folder`, and the SHA-256 that each run's rows, and the labels, had at that time.

    Raises:
        ConfigError: there is no table, or its sources can't be read.
    """
    path = folder / SOURCES
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        runs, cross = (tuple(folder / run for run in content[kind]) for kind in ("runs", "cross"))
        digests = {str(run): str(digest) for run, digest in content["rows_sha256"].items()}
        labels = folder / content["labels"] if "labels" in content else None
        digests |= {content["labels"]: content["labels_sha256"]} if labels else {}
        return Sources(runs, cross, bool(content["force"]), labels), digests
    except OSError as error:
        raise ConfigError(f"no table in {folder}: {path.name} can't be read; make it with `eval.table2`") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path} was not written by `eval.table2` ({type(error).__name__}: {error})") from error


def read_decisions(folder: Path) -> Decisions:
    """The judges' decisions on labelled items that were stored with the table in `folder`.

    Raises:
        ConfigError: they can't be read.
    """
    try:
        content = json.loads((folder / DECISIONS).read_text(encoding="utf-8"))
        return {judge: Decided(**decided) for judge, decided in content.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"{folder / DECISIONS} can't be read ({error}); make the table again") from error
