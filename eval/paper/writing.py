"""Write the paper's tables and figures to files, and return what a command prints about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eval import plugin, table_formats
from eval.config import ConfigError
from eval.finished_runs import Run
from eval.paper import drawing, run_tables
from eval.run_dir import write_atomically
from eval.table import Table, each_note_once

WRITERS = {
    "md": table_formats.to_markdown,
    "csv": table_formats.to_csv,
    "tex": table_formats.to_latex,
    "json": table_formats.to_json,
}


@dataclass(frozen=True)
class Written:
    """The written files, their tables, and a line for each table or figure that the runs do not fill."""

    files: tuple[Path, ...]
    tables: tuple[Table, ...]
    left_out: tuple[str, ...]


def write_tables(runs: Sequence[Run], out: Path, names: Sequence[str]) -> Written:
    """Write the tables with these `run_tables.names`, each as markdown, CSV, LaTeX and JSON.

    Raises:
        ConfigError: `out` can't be written.
    """
    built = run_tables.build(runs, names)
    files = []
    with _writable(out):
        for one in (one for one in built if one.tables):
            for ending, render in WRITERS.items():
                files.append(out / f"{one.file}.{ending}")
                write_atomically(files[-1], render(one.tables))
    return Written(
        files=tuple(files),
        tables=tuple(shown for one in built for shown in each_note_once(one.tables)),
        left_out=tuple(f"{one.title}: left out; {one.lacks}" for one in built if not one.tables),
    )


def write_figures(runs: Sequence[Run], out: Path) -> Written:
    """Draw and write every figure of `eval/figures/`, each as PNG and SVG.

    Raises:
        ConfigError: `out` can't be written.
    """
    files: list[Path] = []
    left_out = []
    for name in plugin.names("eval.figures"):
        module = plugin.load("eval.figures", name)
        drawings = module.build(runs)
        if not drawings:
            left_out.append(f"figure {name}: left out; it needs {module.NEEDS}")
        with _writable(out):
            for title, figure in drawings.items():
                files += drawing.write(figure, out / f"figure_{title}")
    return Written(tuple(files), (), tuple(left_out))


@contextmanager
def _writable(out: Path) -> Iterator[None]:
    """Create the folder `out`; an `OSError` from it or from the block becomes a `ConfigError`."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise ConfigError(f"{out} can't be written: {error.strerror}; choose another folder") from error
