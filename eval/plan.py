"""Plans sample sizes: rows needed to detect a difference between two follow-up rates, and widths of intervals.

    python -m eval.plan --base 0.01 --difference 0.05
    python -m eval.plan --base 0.367 --difference 0.05 --paired --discordant 0.2 --family 5
    python -m eval.plan --base 0.02 --n 300

Rates and differences are shares in [0, 1].
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from eval.command import command
from eval.paper.headings import heading
from eval.paper.published import read_paper
from eval.stats.planning import half_width, independent_discordance, rows_for_pairs, rows_for_two_samples

ABOUT = "Rows needed to detect a difference between two rates, and half-widths of 95 % intervals. Rates lie in 0 to 1."


@command(unusable=(ValueError,))
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0."""
    options = _parser().parse_args(argv)
    plan = make_plan(options)
    print(json.dumps(plan, indent=2) if options.json else _readable(plan))
    return 0


def make_plan(options: argparse.Namespace) -> dict[str, Any]:
    """The numbers for both output formats; rates and half-widths lie in 0 to 1.

    Raises:
        ValueError: a number is outside its range, or options do not fit together.
    """
    if options.family < 1:
        raise ValueError(f"--family {options.family}: a family has at least one test")
    if options.discordant is not None and not options.paired:
        raise ValueError("--discordant applies only to runs on the same rows; add --paired")
    alpha = options.alpha / options.family
    plan: dict[str, Any] = {"base": options.base, "alpha": options.alpha, "family": options.family}
    if options.difference is not None:
        plan |= {"difference": options.difference, "power": options.power}
        if options.paired:
            share = options.discordant
            plan["discordant"] = independent_discordance(options.base, options.difference) if share is None else share
            plan["rows_paired"] = rows_for_pairs(options.base, options.difference, share, options.power, alpha)
        else:
            plan["rows_in_each"] = rows_for_two_samples(options.base, options.difference, options.power, alpha)
    sizes = {str(n): n for n in options.n} if options.n else dict(read_paper().rows)
    plan["half_widths"] = {name: {"n": n, "half_width": half_width(options.base, n)} for name, n in sizes.items()}
    return plan


def _readable(plan: dict[str, Any]) -> str:
    lines = []
    if "difference" in plan:
        after = plan["base"] + plan["difference"]
        lines.append(
            f"{_percent(plan['base'])} against {_percent(after)}, power {_percent(plan['power'])}, {_level(plan)}"
        )
    if "rows_paired" in plan:
        lines.append(f"  {plan['rows_paired']} rows, the same in both runs (exact McNemar test)")
        lines.append(f"  if the outcome of {_percent(plan['discordant'])} of the rows differs between the runs")
    if "rows_in_each" in plan:
        lines.append(f"  {plan['rows_in_each']} rows in each of two independent samples (z-test)")
    lines += [
        *([""] if lines else []),
        f"half-width in points of the 95 % interval (Wilson) at a rate of {_percent(plan['base'])}",
    ]
    for name, cell in plan["half_widths"].items():
        task = "" if name == str(cell["n"]) else f"  {heading(name)}"
        lines.append(f"  n = {cell['n']:>5}  {100 * cell['half_width']:5.1f}{task}")
    return "\n".join(lines)


def _level(plan: dict[str, Any]) -> str:
    level = f"level {_percent(plan['alpha'])}"
    return level if plan["family"] == 1 else f"{level} over a family of {plan['family']} tests (the first step of Holm)"


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m eval.plan", description=ABOUT, allow_abbrev=False)
    parser.add_argument("--base", type=float, required=True, metavar="RATE", help="rate of the first run")
    parser.add_argument("--difference", type=float, metavar="D", help="second rate minus first; 0.05 is 5 points")
    parser.add_argument("--paired", action="store_true", help="both runs have the same rows")
    parser.add_argument(
        "--discordant",
        type=float,
        metavar="SHARE",
        help="with --paired: share of rows whose outcome differs between the runs (default: as if independent)",
    )
    parser.add_argument(
        "--power", type=float, default=0.8, metavar="P", help="probability of detecting the difference (default: 0.8)"
    )
    parser.add_argument("--alpha", type=float, default=0.05, metavar="P", help="level of the test (default: 0.05)")
    parser.add_argument("--family", type=int, default=1, metavar="M", help="tests reported together (default: 1)")
    parser.add_argument(
        "--n", type=int, nargs="+", metavar="N", help="rows for half-widths (default: the paper's tasks)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
