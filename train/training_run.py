"""What SFT and RL runs share: detect a finished run, probe the model during training, save its weights."""

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
from train.sharded_weights import gathered_for_generation, gathered_weights

if TYPE_CHECKING:
    from transformers import PreTrainedModel, Trainer

Tell = Callable[[str], None]
"""Shows the user one line of progress."""

SAMPLE = 4
"""Number of texts on which adapted, merged and saved weights are compared."""


def finished(folder: Path, protocol: Mapping[str, Any]) -> dict[str, Any] | None:
    """The summary of a finished run with the same settings in `folder`, or None."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return dict(summary) if manifest["protocol"] == json.loads(json.dumps(protocol)) else None


def save(trainer: Trainer, base: Path, adapted: bool, sample: Sequence[Sequence[int]], folder: Path) -> None:
    """Write the trained weights to `folder/model`; adapters are merged, and also saved to `folder/adapters`.

    Called on the main process while the others call `gathered_weights`.

    Args:
        base: folder of the base model.
        adapted: whether adapters are trained.
        sample: token ids of a few texts, on which adapted, merged and saved weights are compared.
    """
    from train.model_export import merge_adapters, save_model, with_weights

    weights = gathered_weights(trainer)
    if adapted:
        adapters: Any = trainer.accelerator.unwrap_model(trainer.model)
        adapters.save_pretrained(str(folder / "adapters"), state_dict=weights)
        model = merge_adapters(base, folder / "adapters", sample)
    else:
        model = with_weights(weights, base)
    save_model(model, base, folder / "model", sample)


def language_model(trainer: Trainer) -> PreTrainedModel:
    """A trainer's model without any wrapper; adapters, if it has any, stay in place."""
    from peft import PeftModel

    model: Any = trainer.accelerator.unwrap_model(trainer.model)
    base: Any = model.get_base_model() if isinstance(model, PeftModel) else model
    return base  # type: ignore[no-any-return]


def measure(
    probe: HeldOutProbe, trainer: Trainer, base: Path, chat_format: ChatFormat, name: str, step: int, folder: Path
) -> Measured:
    """Probe a trainer's model at `step` and keep the rows in a subfolder of `folder`.

    Runs on the main process, which shares the result.

    Args:
        base: folder of the base model.
        name: name of the run.
    """
    from train.model_in_training import ModelInTraining, generating

    model = language_model(trainer)
    at = f"step-{step:06d}"
    speaker = Speaker(ModelInTraining(base, model), chat_format, f"{name}@{at}")

    def measured() -> Measured:
        with generating(model), PREEMPTION.interruptible(True):
            return probe.measure(speaker, folder / at)

    with gathered_for_generation(trainer):
        return run_on_main(measured)
