"""A gate for a pipeline: has a model lost more of a metric than is allowed? Says which rows turned, and where they are.

    python -m eval.gate RUN_BASE RUN_NEW --max-drop gsm8k=2 --max-drop healthbench=0 [--strict] [--json]

A metric is a task, or a task with accuracy, genuine or specific behind a dot (ifbench.specific); alone, a math task
means accuracy and any other its genuine follow-ups. The number is in points. Exit status, the first that holds:

1  a metric is significantly worse than allowed.
2  it cannot be checked: runs of another protocol or unfinished, a metric that is missing, or too many rows of the new
   run without an outcome.
3  with --strict: a metric is not shown to have stayed within its margin.
0  otherwise. Without --strict that includes metrics that the rows do not resolve: a pipeline should stop for a loss
   that is shown, not for a set that is small. How each is decided: `eval/model_comparison/non_inferiority.py`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from eval import table_formats
from eval.command import UNUSABLE, command
from eval.config import ConfigError
from eval.finished_runs import read_run
from eval.model_comparison.measured_model import MeasuredModel, read_model
from eval.model_comparison.metric import parse_metric
from eval.model_comparison.non_inferiority import Check, check_all
from eval.model_comparison.same_protocol import differences, refuse_other_protocol
from eval.model_comparison.turned_rows import as_json, turned_rows
from eval.tables.gate import build

ABOUT = "Exit with 1 where a model has lost significantly more of a metric than is allowed, on the same rows."
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
    """The two runs, read.

    Raises:
        ConfigError: one is missing or unfinished, both are one, or their protocols differ.
    """
    if base.resolve() == new.resolve():
        raise ConfigError(f"{base} is named twice; a gate compares two runs")
    runs = read_run(base.resolve()), read_run(new.resolve())
    called = [run.given_name or run.model for run in runs]
    names = called if called[0] != called[1] else ["base", "new"]
    first, second = (read_model(run, name) for run, name in zip(runs, names, strict=True))
    refuse_other_protocol(first, second, differences(*runs), "measure it again under the same protocol")
    return first, second


def exit_status(checks: Sequence[Check], strict: bool) -> int:
    """The exit status of all checks together."""
    results = {check.result for check in checks}
    if "worse" in results:
        return WORSE
    if "cannot tell" in results:
        return UNUSABLE
    return UNRESOLVED if strict and results != {"within"} else 0


def _margins(given: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The margin of each metric.

    Raises:
        ConfigError: a metric is named twice, or named as none can be.
    """
    margins: dict[str, float] = {}
    for name, margin in given:
        task, measure = parse_metric(name)
        if f"{task}.{measure}" in margins:
            raise ConfigError(f"--max-drop {name}: {task}.{measure} has a margin already")
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
        epilog="exit status: 1 worse than allowed, 2 cannot be checked, 3 with --strict not shown to be within, else 0",
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
        help="points that a metric may fall by, such as gsm8k=2 or ifbench.specific=5; repeat it for more metrics",
    )
    parser.add_argument("--strict", action="store_true", help="exit with 3 unless every metric is shown to be within")
    parser.add_argument("--json", action="store_true", help="print JSON instead")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
