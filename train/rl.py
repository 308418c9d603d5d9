"""Train a policy on both sides of a conversation, rewarded on episodes that it generates itself.

    python -m train.rl --config configs/train/rl_smollm2.yaml [--dry-run]

The trained weights are in RUN_DIR/model, a model folder like any other: `python -m eval.probe --model RUN_DIR/model`.
A killed run resumes from its last complete checkpoint; a finished run only prints its results again.
"""

from __future__ import annotations

import functools
import sys

from eval import table_formats
from eval.command import command
from eval.command_line import load
from train.main_process import is_node_main
from train.preemption import preemptible
from train.rl_card import formatted
from train.rl_config import RlConfig
from train.rl_overview import overview
from train.rl_parts import open_parts
from train.rl_run import reinforce
from train.training_run import finished

ABOUT = "Train a policy with GRPO on two-turn episodes, an answer and the user turn after it, and save it."


@command(stopped="the same command resumes from the last checkpoint", speaks=is_node_main)
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
        print(f"mean {name} of the first steps {formatted(mean['first'])}, of the last {formatted(mean['last'])}")
    for step, results in (summary["probe"] or {"steps": {}})["steps"].items():
        print(f"probe at step {step}: {results}")
    print(f"model: {config.run_dir}/model\nepisodes: {config.run_dir}/episodes.jsonl\nrun folder: {config.run_dir}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
