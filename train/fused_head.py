"""Makes TRL's fused head score only trained positions on a CPU too, as it does on a GPU.

The head is TRL's (`trl.trainer.utils.add_fused_lm_head`). Off GPUs it projects every position to the vocabulary,
because some devices recompile for each number of positions; CPUs do not. In user turns about every sixth position is
trained, and the others cost a third of a step: see `benchmarks/sft_step.py`.
"""

from __future__ import annotations


def score_trained_positions_alone() -> None:
    """Make the fused head of this process drop unlabelled positions on a CPU; other devices are not affected."""
    from trl.trainer import utils

    drops = utils._use_triton
    # The head uses this function only to decide whether to drop positions; the kernels have their own check.
    utils._use_triton = lambda device: device.type == "cpu" or drops(device)  # type: ignore[assignment]
