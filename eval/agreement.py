"""Agreement of a judge with gold labels: `python -m eval.agreement --gold PATH --judge local`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval import plugin
from eval.command import command
from eval.config import ConfigError, Plugin
from eval.fitted_share import fitted_share
from eval.gold import read_gold
from eval.judge_choice import chosen_judge, refuse_unbounded
from eval.rater_agreement import compare, judge_items

PROG = "python -m eval.agreement"


@command(unusable=(ValueError, OSError))
def main(argv: Sequence[str] | None = None) -> int:
    """Measure one judge on one gold file and print the report; returns 0."""
    parser = argparse.ArgumentParser(
        prog=PROG,
        description="Measure the agreement of a judge with labelled user turns: Cohen's kappa and percent agreement of "
        "the binary (genuine or not) and of the label, by task, source, temperature and label.",
        epilog="A judge takes its options as --judge.OPTION VALUE. Examples: %(prog)s --gold gold/dev.jsonl --judge "
        "local --cv; %(prog)s --gold gold/dev.jsonl --judge openai --judge.model qwen --judge.base_url "
        "http://localhost:8000/v1 --judge.api_key_variable null",
        allow_abbrev=False,
    )
    parser.add_argument("--gold", type=Path, required=True, help="JSONL of labelled user turns")
    parser.add_argument("--judge", required=True, help=f"one of: {', '.join(plugin.names('eval.judges'))}")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--cv", action="store_true", help="cross-validate a fitted judge: refit it on other queries")
    args, judge_options = parser.parse_known_args(argv)
    judge = chosen_judge(["--judge", args.judge, *judge_options], PROG)
    report = _measure(args.gold, judge, args.cv)
    if args.json:
        print(json.dumps(report, indent=1, allow_nan=False))
    else:
        from eval.agreement_table import show

        show(report)
    return 0


def _measure(gold: Path, judge: Plugin, cross_validated: bool) -> dict[str, Any]:
    items = read_gold(gold)
    if cross_validated:
        from eval.fit_judge import PARAMETERS, fit_of, judge_unseen

        if judge.name not in PARAMETERS:
            raise ConfigError(f"--cv refits the judge, and {judge} is not fitted; leave --cv out")
        if judge.options:
            raise ConfigError(f"--cv takes no judge options; leave --judge.{next(iter(judge.options))} out")
        figures = compare(items, judge_unseen(items, fit_of(judge.name)))
        return {**figures, "judge": judge.name, "fitted_share": 0.0, "cross_validated": True}
    instance = plugin.load("eval.judges", judge.name).Judge(**judge.options)
    refuse_unbounded(judge, instance, len(items))
    report = compare(items, judge_items(items, instance))
    return {**report, "judge": instance.id, "fitted_share": fitted_share(items, judge.name), "cross_validated": False}


if __name__ == "__main__":
    raise SystemExit(main())
