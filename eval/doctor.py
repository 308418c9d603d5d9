"""Check in about a minute whether a run can start, before GPU hours are spent on it.

    python -m eval.doctor --config configs/train/sft_smollm2.yaml [--some.field VALUE ...] [--processes N] [--json]

Takes the configuration of eval.probe, eval.sweep, train.sft, train.rl or data_gen.run, with their own options. Exits
with 0 for go, 1 for no-go, 2 for a configuration that cannot be read. Runs in one process whatever N is.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.text import Text

from eval.checks.finding import Finding, Status, examine, is_go
from eval.checks.hub import offline_without_hub
from eval.checks.processes import Processes, planned_processes
from eval.command import command
from eval.command_line import load, read_yaml
from eval.config import ConfigError
from eval.preflighting import command_of, preflights

ABOUT = (
    "Check all that a run needs: packages, model, template, data, judge, disk, adapters, kernels, and what it takes."
)
STYLES: dict[Status, str] = {"pass": "green", "warn": "yellow", "fail": "bold red", "not checked": "dim"}
NO_GO = 1


@command()
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 for go and 1 for no-go."""
    options, fields = _parser().parse_known_args(argv)
    name = command_of(read_yaml(options.config), str(options.config))
    preflight = preflights()[name]
    config = load(preflight.CONFIG, ["--config", str(options.config), *fields], prog=f"python -m {name}", about=ABOUT)
    offline_without_hub()
    _quieten()
    planned = _planned(name, preflight, config, options.processes)
    checks = [planned.check, *preflight.checks(config, planned.number)] if planned else preflight.checks(config)
    found = examine(checks)
    findings = dict(found if options.json else _shown(found, Console(highlight=False, soft_wrap=True)))
    go = is_go(findings.values())
    if options.json:
        told = [{"check": check, **asdict(finding)} for check, finding in findings.items()]
        print(json.dumps({"go": go, "command": name, "config": str(options.config), "findings": told}, indent=2))
    else:
        launcher = planned.launcher if planned else ["python", "-m"]
        checked = shlex.join([*launcher, name, "--config", str(options.config), *fields])
        print(f"{'go' if go else 'no-go'}: {checked}")
    return 0 if go else NO_GO


def _planned(command: str, preflight: ModuleType, config: Any, processes: int | None) -> Processes | None:
    """The processes that a training run is checked for; None for a command that runs in one process.

    Raises:
        ConfigError: `processes` is given for such a command.
    """
    if "processes" in inspect.signature(preflight.checks).parameters:
        return planned_processes(processes, config.run_dir, os.environ)
    if processes is not None:
        raise ConfigError(f"{command} runs in one process; leave --processes out, which is for training")
    return None


def _shown(found: Iterator[tuple[str, Finding]], console: Console) -> Iterator[tuple[str, Finding]]:
    """The findings, printed as they come."""
    for check, finding in found:
        console.print(Text(f"{finding.status:<11} ", STYLES[finding.status]) + Text(f"{check}: {finding.told}"))
        if finding.todo:
            console.print(Text(f"{'':<11} -> {finding.todo}"))
        for line in finding.shown.splitlines():
            console.print(Text(f"{'':<11}  | {line}", "dim"))
        yield check, finding


def _quieten() -> None:
    """Keep the libraries' own messages out of the findings."""
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m eval.doctor",
        description=ABOUT,
        allow_abbrev=False,
        epilog="Any field of the configuration may follow: --some.field VALUE.",
    )
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="YAML of the run")
    parser.add_argument(
        "--processes",
        type=_whole,
        metavar="N",
        help="processes of the training run, one per GPU; by default those of the surrounding Slurm job, else those of "
        "the run in its folder, else 1",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON, and nothing else")
    return parser


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


if __name__ == "__main__":
    raise SystemExit(main())
