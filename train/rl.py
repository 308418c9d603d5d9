"""Train a policy on both sides of a conversation by the rewards of episodes that it plays itself.

    python -m train.rl --config configs/train/rl_smollm2.yaml [--dry-run]

The trained weights are in RUN_DIR/model, a model folder like any other: `python -m eval.probe --model RUN_DIR/model`.
A killed run goes on from its last whole checkpoint; a finished one is only reported again.
"""

from __future__ import annotations

import functools
import sys

from eval import table_formats
from eval.command import command
from eval.command_line import load
from train.main_process import is_node_main
from train.preemption import preemptible
from train.rl_card import told
from train.rl_config import RlConfig
from train.rl_overview import overview
from train.rl_parts import open_parts
from train.rl_run import reinforce
from train.training_run import finished

ABOUT = "Train a policy with GRPO on episodes of two turns, an answer and the user's turn after it, and save it."


@command(stopped="the same command goes on from the last checkpoint", speaks=is_node_main)
@preemptible
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 for a complete run."""
    config = load(RlConfig, sys.argv[1:] if argv is None else argv, prog="python -m train.rl", about=ABOUT)
    parts = open_parts(config)
    summary = finished(config.run_dir, parts.protocol)
    if (summary is None or config.dry_run) and not parts.arguments.process_index:
        print(table_formats.to_terminal([overview(parts)]), flush=True)
    if config.dry_run:
        return 0
    summary = summary or reinforce(parts, functools.partial(print, file=sys.stderr, flush=True))
    if summary is None:
        return 0
    for name, mean in summary["rewards"].items():
        print(f"mean {name} of the first steps {told(mean['first'])}, of the last {told(mean['last'])}")
    for step, found in (summary["probe"] or {"steps": {}})["steps"].items():
        print(f"probe at step {step}: {found}")
    print(f"model: {config.run_dir}/model\nepisodes: {config.run_dir}/episodes.jsonl\nrun folder: {config.run_dir}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
