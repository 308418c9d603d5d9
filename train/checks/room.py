"""What a training run leaves on disk: checkpoints with optimizer states, and the model folder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from eval.checks.model_files import weights_bytes
from train.training_config import Lora

if TYPE_CHECKING:
    from transformers import TrainingArguments

FLOAT32 = 4
ADAM = 2
"""Values that Adam stores per trained weight."""


def bytes_of_run(folder: Path, lora: Lora | None, arguments: TrainingArguments, steps: int) -> tuple[int, str]:
    """Largest size in bytes of a run's checkpoints and model, and what it consists of.

    Args:
        folder: folder of the base model.
    """
    saved = 1 if not arguments.save_steps else math.ceil(steps / max(1, int(arguments.save_steps)))
    # The trainer deletes the oldest checkpoint only after writing the next one.
    kept = min(saved, arguments.save_total_limit + 1 if arguments.save_total_limit else saved)
    weights = _parameters(folder)
    trained = weights if lora is None else _adapter_parameters(folder, lora)
    in_checkpoint = trained * FLOAT32 * (1 + ADAM)
    model = weights * FLOAT32 * 2  # a new folder is written before the old one is deleted
    return kept * in_checkpoint + model, f"{kept} checkpoints and a model"


def _parameters(folder: Path) -> int:
    """Number of weights of the model; without safetensors files, estimated at two bytes each."""
    from safetensors import safe_open

    count = 0
    for path in folder.glob("*.safetensors"):
        with safe_open(path, framework="pt") as file:
            count += sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    return count or weights_bytes(folder) // 2


def _adapter_parameters(folder: Path, lora: Lora) -> int:
    """Number of adapter weights if every matrix in a layer were adapted: an upper bound."""
    from safetensors import safe_open

    count = 0
    for path in folder.glob("*.safetensors"):
        with safe_open(path, framework="pt") as file:
            shapes = [file.get_slice(name).get_shape() for name in file.keys() if ".layers." in name]  # noqa: SIM118
            count += sum(lora.r * (shape[0] + shape[-1]) for shape in shapes if len(shape) == 2)
    return count
