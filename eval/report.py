"""Write an HTML report of finished runs: settings, results, tables, label shares and dialogues.

    python -m eval.report RUN... [--out report.html] [--allow-gpqa-text]

The file is self-contained: no network, no fonts, no other file. Beyond 5,000 rows or 20 MB, further dialogues follow in
numbered pages in a folder next to it. Texts of gated data sets are left out by default.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from eval.command import command
from eval.config import ConfigError
from eval.finished_runs import read_runs
from eval.report_page.page import pages_of, write_page
from eval.tracked_results import add_options, chosen, report_tables
from eval.tracker import NOBODY

ABOUT = "Write finished runs as self-contained HTML: settings, tables, label shares, dialogues side by side."


@command()
def main(argv: list[str] | None = None) -> int:
    """Run the command line and print the path of the file; returns 0."""
    options = _parser().parse_args(argv)
    report_to = chosen(options)
    if options.allow_gpqa_text and report_to != NOBODY:
        raise ConfigError("a page with --allow-gpqa-text must stay private; leave out either it or --report-to")
    path = report(options.runs, options.out, options.allow_gpqa_text)
    report_tables(report_to, "report", path.parent, options.runs, [], pages_of(path))
    print(path)
    return 0


def report(folders: Sequence[Path], out: Path | None = None, allow_gated_text: bool = False) -> Path:
    """Write the report of the run folders to `out`, by default `report.html` in the first; returns its path.

    Raises:
        ConfigError: a folder is not a finished run, or `out` can't be written.
    """
    path = out or folders[0] / "report.html"
    runs = read_runs(folders)
    try:
        write_page(runs, path, allow_gated_text)
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror}; choose another --out") from error
    return path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m eval.report", description=ABOUT, allow_abbrev=False)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a finished run")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: report.html in the first RUN")
    parser.add_argument(
        "--allow-gpqa-text", action="store_true", help="show the text of gated data sets; keep such a file private"
    )
    add_options(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
