"""TRL's fused head, made to score trained positions alone on a CPU too, as it does on a GPU.

The head itself is TRL's (`trl.trainer.utils.add_fused_lm_head`). Off GPUs it projects every position to the vocabulary,
because there are devices that recompile for each number of positions; a CPU is none of them. In user turns about every
sixth position is trained, and the rest cost a third of a step: see `benchmarks/sft_step.py`.
"""

from __future__ import annotations


def score_trained_positions_alone() -> None:
    """Let the fused head drop positions without a label on a CPU, in this process; elsewhere it stays as it is."""
    from trl.trainer import utils

    drops = utils._use_triton
    # The head asks this function of its module for nothing but whether to drop positions; the kernels have their own.
    utils._use_triton = lambda device: device.type == "cpu" or drops(device)  # type: ignore[assignment]
