"""Fine-tune a model on the user turns of conversations, the assistant turns, or both.

    python -m train.sft --config configs/train/sft_smollm2.yaml [--dry-run | --show-mask]

The trained weights are in RUN_DIR/model, a model folder like any other: `python -m eval.probe --model RUN_DIR/model`.
A killed run resumes from its last complete checkpoint; a finished run only prints its results again.
"""

from __future__ import annotations

import functools
import sys

from rich.console import Console

from eval import table_formats
from eval.command import command
from eval.command_line import load
from train.main_process import is_node_main
from train.preemption import preemptible
from train.sft_config import SftConfig
from train.sft_overview import overview
from train.sft_parts import open_parts
from train.sft_run import fine_tune
from train.show_mask import show_masks
from train.training_run import finished

ABOUT = "Fine-tune a model on the turns of one role or both, with adapters or all weights, and save a model folder."


@command(stopped="the same command resumes from the last checkpoint", speaks=is_node_main)
@preemptible
def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 for a complete run."""
    config = load(SftConfig, sys.argv[1:] if argv is None else argv, prog="python -m train.sft", about=ABOUT)
    parts = open_parts(config)
    if config.show_mask:
        show_masks(parts.mixture, parts.chat_format, Console())
        return 0
    summary = finished(config.run_dir, parts.protocol)
    if (summary is None or config.dry_run) and not parts.arguments.process_index:
        print(table_formats.to_terminal([overview(parts)]), flush=True)
    if config.dry_run:
        return 0
    summary = summary or fine_tune(parts, functools.partial(print, file=sys.stderr, flush=True))
    if summary is None:
        return 0
    print(f"loss of the first steps {summary['loss']['first']:.3f}, of the last {summary['loss']['last']:.3f}")
    for step, results in (summary["probe"] or {"steps": {}})["steps"].items():
        print(f"probe at step {step}: {results}")
    print(f"model: {config.run_dir}/model\nrun folder: {config.run_dir}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
