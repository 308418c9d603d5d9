"""Make a workspace and a report of Weights & Biases that show Base, SFT and RL side by side.

    python -m eval.dashboard --project P [--entity E] [--group EXPERIMENT] [--tasks gsm8k,ifbench] [--dry-run]

Shows what runs with `report_to: {name: wandb, project: P}` have logged, also those that were sent with `wandb sync`.
With --dry-run, both are printed as JSON and nothing is sent.
"""

from __future__ import annotations

import argparse
import json
from importlib.util import find_spec
from typing import Any

from eval.command import command
from eval.config import ConfigError
from eval.dashboard_spec import TASKS, report, workspace
from eval.wandb_server import has_key

ABOUT = "Make a W&B workspace and report: Table 2, rates over steps and temperatures, label shares, episodes."
SOMEBODY = "ENTITY"
"""Placeholder for the entity in a dry run without --entity."""


@command()
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0."""
    options = _parser().parse_args(argv)
    if find_spec("wandb_workspaces") is None:
        raise ConfigError("wandb-workspaces is not installed: pip install '.[dashboard]'")
    if not options.dry_run and not has_key():
        raise ConfigError("there is no key for Weights & Biases: run `wandb login`, or use --dry-run")
    entity = options.entity or (SOMEBODY if options.dry_run else _default_entity())
    given = (options.project, entity, options.tasks, options.group)
    made: dict[str, Any] = {"workspace": workspace(*given), "report": report(*given)}
    if options.dry_run:
        specs = {name: one._to_model().model_dump(mode="json", by_alias=True) for name, one in made.items()}
        print(json.dumps(specs, indent=1))
        return 0
    for name, one in made.items():
        one.save()
        print(f"{name}: {one.url}")
    return 0


def _default_entity() -> str:
    """The entity that the key belongs to.

    Raises:
        ConfigError: the server cannot be reached, or rejects the key.
    """
    import wandb

    try:
        return str(wandb.Api().default_entity)
    except (wandb.errors.Error, OSError, ValueError) as error:
        raise ConfigError(f"wandb: {error}; give --entity, or use --dry-run") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m eval.dashboard", description=ABOUT, allow_abbrev=False)
    parser.add_argument("--project", required=True, help="project of the runs")
    parser.add_argument("--entity", help="user or team (default: that of the key)")
    parser.add_argument("--group", help="experiment that the runs belong to (default: all)")
    parser.add_argument(
        "--tasks", type=lambda text: tuple(text.split(",")), default=TASKS, metavar="NAME,NAME", help="of the figures"
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be made, and send nothing")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
