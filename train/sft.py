"""Fine-tune a model on the user's turns of conversations, on the assistant's, or on both.

    python -m train.sft --config configs/train/sft_smollm2.yaml [--dry-run | --show-mask]

The trained weights are in RUN_DIR/model, a model folder like any other: `python -m eval.probe --model RUN_DIR/model`.
A killed run goes on from its last whole checkpoint; a finished one is only reported again.
"""

from __future__ import annotations

import sys

from eval import table
from eval.command import command
from eval.command_line import load
from train.fine_tuning import fine_tune
from train.overview import overview
from train.sft_config import SftConfig
from train.sft_parts import open_parts

ABOUT = "Fine-tune a model on the turns of one role, with adapters or whole, and save it as a model folder."


@command(stopped="the same command goes on from the last checkpoint")
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 for a complete run."""
    config = load(SftConfig, sys.argv[1:] if argv is None else argv, prog="python -m train.sft", about=ABOUT)
    parts = open_parts(config)
    arguments = parts.arguments(config.run_dir / "checkpoints")
    print(table.to_terminal([overview(parts.mixture, parts.batch(arguments), parts.steps(arguments))]), flush=True)
    if config.dry_run:
        return 0
    summary = fine_tune(config, parts)
    print(f"loss of the first steps {summary['losses']['first']:.3f}, of the last {summary['losses']['last']:.3f}")
    print(f"model: {config.run_dir}/model\nrun folder: {config.run_dir}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
