"""What SFT and RL runs share: a complete run is recognized, the model in training is probed, its weights are saved."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.rendering.chat_format import ChatFormat
from eval.speaker import Speaker
from train.held_out_probe import HeldOutProbe, Measured
from train.main_process import run_on_main
from train.preemption import PREEMPTION
from train.sharded_weights import gathered, whole

if TYPE_CHECKING:
    from transformers import PreTrainedModel, Trainer

Tell = Callable[[str], None]
"""Shows a person a line."""

SAMPLE = 4
"""Texts on which adapted, merged and saved weights are compared."""


def finished(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Any] | None:
    """The summary of a complete run of the same settings in `folder`, or None."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return dict(summary) if manifest["protocol"] == json.loads(json.dumps(protocol)) else None


def save(trainer: Trainer, base: Path, adapted: bool, sample: Sequence[Sequence[int]], folder: Path) -> None:
    """Write the trained weights to `folder/model`; adapters are merged, and alone in `folder/adapters`.

    It is the first process that calls this, and the others call `gathered`.

    Args:
        base: folder of the base model.
        adapted: whether the trainer trains adapters.
        sample: token ids of a few texts, on which adapted, merged and saved weights are compared.
    """
    from train.model_export import merge_adapters, save_model, with_weights

    weights = gathered(trainer)
    if adapted:
        adapters: Any = trainer.accelerator.unwrap_model(trainer.model)
        adapters.save_pretrained(str(folder / "adapters"), state_dict=weights)
        model = merge_adapters(base, folder / "adapters", sample)
    else:
        model = with_weights(weights, base)
    save_model(model, base, folder / "model", sample)


def language_model(trainer: Trainer) -> PreTrainedModel:
    """The model in a trainer, with its adapters in place if it has any, and nothing wrapped around it."""
    from peft import PeftModel

    model: Any = trainer.accelerator.unwrap_model(trainer.model)
    base: Any = model.get_base_model() if isinstance(model, PeftModel) else model
    return base  # type: ignore[no-any-return]


def measure(
    probe: HeldOutProbe, trainer: Trainer, base: Path, chat_format: ChatFormat, name: str, step: int, folder: Path
) -> Measured:
    """Probe the model in a trainer as it is at `step`; its rows are kept below `folder`.

    The first process alone does it, and tells the others.

    Args:
        base: folder of the base model.
        name: of the run.
    """
    from train.model_in_training import ModelInTraining, generating

    model = language_model(trainer)
    at = f"step-{step:06d}"
    speaker = Speaker(ModelInTraining(base, model), chat_format, f"{name}@{at}")

    def measured() -> Measured:
        with generating(model), PREEMPTION.interruptible(True):
            return probe.measure(speaker, folder / at)

    with whole(trainer):
        return run_on_main(measured)
