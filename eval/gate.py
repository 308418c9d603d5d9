"""A regression gate for pipelines: fails if a metric fell by more than allowed, and lists the rows that changed.

    python -m eval.gate RUN_BASE RUN_NEW --max-drop gsm8k=2 --max-drop healthbench=0 [--strict] [--json]

A metric is a task, or a task followed by a dot and accuracy, genuine or specific (ifbench.specific); a bare math task
means accuracy, any other bare task its genuine rate. The number is in points. Exit status, the first that applies:

1  a metric is significantly worse than allowed.
2  the check is impossible: runs of another protocol, unfinished or shards, a missing metric, rows of the base that the
   new run lacks, or too many rows of the new run without an outcome.
3  with --strict: a metric is not shown to have stayed within its margin.
0  otherwise. Without --strict this includes metrics that the rows do not resolve: a pipeline should stop for a loss
   that is shown, not for a small data set. The tests: `eval/model_comparison/non_inferiority.py`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from eval import table_formats
from eval.command import UNUSABLE, command
from eval.config import ConfigError
from eval.finished_runs import read_runs
from eval.model_comparison.measured_model import MeasuredModel, read_model
from eval.model_comparison.metric import parse_metric
from eval.model_comparison.non_inferiority import Check, check_all
from eval.model_comparison.same_protocol import differences, refuse_other_protocol
from eval.model_comparison.turned_rows import as_json, turned_rows
from eval.tables.gate import build

ABOUT = "Exit with 1 if a metric fell by significantly more than allowed, on the same rows."
WORSE, UNRESOLVED = 1, 3


@command()
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit status that the top of this file defines."""
    options = _parser().parse_args(argv)
    base, new = read_pair(options.base, options.new)
    checks = check_all(base, new, _margins(options.max_drop))
    status = exit_status(checks, options.strict)
    if options.json:
        print(json.dumps(as_json(base, new, checks, status), indent=2))
        return status
    print(table_formats.to_terminal([build(base, new, checks)]))
    print(*turned_rows(base, new, checks), sep="\n")
    return status


def read_pair(base: Path, new: Path) -> tuple[MeasuredModel, MeasuredModel]:
    """Read the two runs.

    Raises:
        ConfigError: one is missing, unfinished or a shard, both are the same, or their protocols differ.
    """
    if base.resolve() == new.resolve():
        raise ConfigError(f"{base} is given twice; a gate compares two runs")
    (of_base,), (of_new,) = read_runs([base]), read_runs([new])
    runs = of_base, of_new
    own_names = [run.given_name or run.model for run in runs]
    names = own_names if own_names[0] != own_names[1] else ["base", "new"]
    first, second = (read_model(run, name) for run, name in zip(runs, names, strict=True))
    refuse_other_protocol(first, second, differences(*runs), "measure it again under the same protocol")
    return first, second


def exit_status(checks: Sequence[Check], strict: bool) -> int:
    """The exit status for all checks."""
    results = {check.result for check in checks}
    if "worse" in results:
        return WORSE
    if "cannot tell" in results:
        return UNUSABLE
    return UNRESOLVED if strict and results != {"within"} else 0


def _margins(given: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The margin of each metric.

    Raises:
        ConfigError: a metric is given twice, or its name is malformed.
    """
    margins: dict[str, float] = {}
    for name, margin in given:
        task, measure = parse_metric(name)
        if f"{task}.{measure}" in margins:
            raise ConfigError(f"--max-drop {name}: {task}.{measure} already has a margin")
        margins[f"{task}.{measure}"] = margin
    return margins


def _margin(text: str) -> tuple[str, float]:
    name, equals, points = text.partition("=")
    try:
        margin = float(points)
    except ValueError:
        margin = -1.0
    if not (name and equals and 0 <= margin <= 100):
        raise argparse.ArgumentTypeError(f"{text!r}; write FIGURE=POINTS with 0 to 100 points, such as gsm8k=2")
    return name, margin


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m eval.gate",
        description=ABOUT,
        epilog="exit status: 1 worse than allowed, 2 check impossible, 3 with --strict not shown to be within, else 0",
        allow_abbrev=False,
    )
    parser.add_argument("base", type=Path, metavar="RUN_BASE", help="finished run folder to compare with")
    parser.add_argument("new", type=Path, metavar="RUN_NEW", help="finished run folder of the same protocol")
    parser.add_argument(
        "--max-drop",
        type=_margin,
        action="append",
        required=True,
        metavar="FIGURE=POINTS",
        help="allowed drop of a metric, such as gsm8k=2 or ifbench.specific=5; repeat it for more metrics",
    )
    parser.add_argument("--strict", action="store_true", help="exit with 3 unless every metric is shown to be within")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
