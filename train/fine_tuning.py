"""Complete the run folder of one fine-tuning: the steps that are missing, the model folder, its card, the summary.

`log.jsonl` grows step by step, `checkpoints/` every so often; `model/` appears whole; `summary.json` comes last.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.run_dir import RunDir, write_atomically
from eval.trackers.none import Tracker as NoTracker
from eval.training_record import write_training_record
from eval.weights import model_digest
from train.divided_weights import gathered
from train.model_card import model_card
from train.parallel import refuse_other_number
from train.sft_parts import Parts
from train.tracking import begin, end
from train.training import Tell, train
from train.training_log import NoLog, TrainingLog, losses

if TYPE_CHECKING:
    from transformers import Trainer

SAMPLE = 4
"""Examples on which adapted, merged and saved weights are compared."""
ENDS = 10
"""Steps at the beginning and at the end whose mean loss is told, at most: no step is in both."""


def fine_tune(parts: Parts, tell: Tell) -> dict[str, Any] | None:
    """Complete the run folder of `parts.config`; returns its summary, or None in a process other than the first.

    Args:
        tell: shows a person a line of what is going on.

    Raises:
        ConfigError: a setting cannot work, or the folder holds another run.
    """
    config, selection = parts.config, {"seed": parts.config.seed, "tasks": {}}
    if parts.arguments.process_index > 0:
        nobody = NoLog(config.run_dir / "log.jsonl"), NoTracker(), _unheard
        gathered(train(parts, config.run_dir, *nobody)[0])
        return None
    refuse_other_number(config.run_dir)
    with (
        RunDir(config.run_dir, config, parts.protocol, selection, ("eval", "train")) as run,
        closing(begin("sft", config.name, config.report_to, parts, run.path, parts.data_files)) as tracker,
    ):
        run.measured["data_files"] = parts.data_files
        with TrainingLog(run.path / "log.jsonl") as log:
            with run.timed("training"):
                trainer, schedule = train(parts, run.path, log, tracker, tell)
            with run.timed("saving"):
                sample = [example.input_ids for example in parts.mixture.all[:SAMPLE]]
                save(trainer, parts.folder, config.lora is not None, sample, run.path)
        summary = {
            "model": f"{config.name}@{model_digest(run.path / 'model')[:12]}",
            "base": parts.model_id,
            "steps": trainer.state.global_step,
            "loss": loss_at_ends(losses(run.path / "log.jsonl")),
            "probe": schedule.summary if schedule else None,
        }
        write_atomically(run.path / "model" / "README.md", model_card(parts, summary))
        write_training_record(run.path / "model", method="sft", base=parts.model_id)
        run.finish(summary)
        end(tracker, run.path, summary)
    return summary


def _unheard(line: str) -> None: ...


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
    from train.merging import merge_adapters, save_model, with_weights

    weights = gathered(trainer)
    if adapted:
        adapters: Any = trainer.accelerator.unwrap_model(trainer.model)
        adapters.save_pretrained(str(folder / "adapters"), state_dict=weights)
        model = merge_adapters(base, folder / "adapters", sample)
    else:
        model = with_weights(weights, base)
    save_model(model, base, folder / "model", sample)


def loss_at_ends(by_step: dict[int, float]) -> dict[str, float]:
    """The mean loss of the first steps and of the last."""
    values = [by_step[step] for step in sorted(by_step)]
    size = max(1, min(ENDS, len(values) // 2))
    return {"first": sum(values[:size]) / size, "last": sum(values[-size:]) / size}
