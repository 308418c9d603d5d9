"""Complete the run folder of one fine-tuning: training from the last checkpoint, the model folder, the summary.

`log.jsonl` grows step by step, `checkpoints/` every so often; `model/` appears whole; `summary.json` comes last.
"""

from __future__ import annotations

import json
import logging
import math
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval import progress
from eval.config import ConfigError
from eval.run_dir import RunDir
from eval.weights import model_digest
from train.checkpoints import last_checkpoint, seal
from train.sft_config import SftConfig
from train.sft_parts import Parts
from train.training_log import TrainingLog, losses

if TYPE_CHECKING:
    from trl import SFTTrainer

logger = logging.getLogger(__name__)

SAMPLE = 4
"""Examples on which adapted, merged and saved weights are compared."""


def fine_tune(config: SftConfig, parts: Parts, display: progress.Progress = progress.shown) -> dict[str, Any]:
    """Complete the run folder of `config`; returns its summary. A finished one is only read.

    Raises:
        ConfigError: a setting cannot work, or the folder holds another run.
    """
    if (summary := finished(config.run_dir, parts)) is not None:
        return summary
    selection = {"seed": config.seed, "tasks": {}}
    with RunDir(config.run_dir, config, parts.protocol, selection) as run:
        run.measured["data_files"] = parts.data_files
        with run.timed("training"):
            trainer = train(config, parts, run.path, display)
        with run.timed("saving"):
            save(trainer, parts, run.path)
        summary = {
            "model": f"{config.name}@{model_digest(run.path / 'model')[:12]}",
            "base": parts.model_id,
            "steps": trainer.state.global_step,
            "losses": _ends(losses(run.path / "log.jsonl")),
        }
        run.finish(summary)
    return summary


def finished(folder: Path, parts: Parts) -> dict[str, Any] | None:
    """The summary of a complete run of the same settings, or None."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = manifest["protocol"] == json.loads(json.dumps(parts.protocol))
    return dict(summary) if same else None


def train(config: SftConfig, parts: Parts, folder: Path, display: progress.Progress) -> SFTTrainer:
    """Train from the last whole checkpoint in `folder`, or from the start, to the last step."""
    from train.sft_trainer import make_trainer
    from train.trainer_events import listener

    arguments = parts.arguments(folder / "checkpoints")
    steps, batch = parts.steps(arguments), parts.batch(arguments)
    checkpoint = last_checkpoint(folder / "checkpoints")
    done = int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0
    trainer = make_trainer(parts.open_model(), parts.tokenizer, arguments, parts.mixture.all)
    with ExitStack() as stack:
        log = stack.enter_context(TrainingLog(folder / "log.jsonl"))
        advance = stack.enter_context(display("training", steps * batch, done * batch))

        def on_log(state: Any, logs: dict[str, Any]) -> None:
            if "loss" not in logs:
                return
            if not math.isfinite(logs["loss"]) or not math.isfinite(logs.get("grad_norm", 0.0)):
                raise ConfigError(
                    f"step {state.global_step}: the loss is {logs['loss']} and the norm of its gradient "
                    f"{logs.get('grad_norm')}; lower trl.learning_rate, or look at the examples with --show-mask"
                )
            log.append(state.global_step, logs)
            for _ in range(batch):
                advance()

        def on_save(state: Any) -> None:
            seal(folder / "checkpoints" / f"checkpoint-{state.global_step}")

        trainer.add_callback(listener(on_log=on_log, on_save=on_save))
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    return trainer


def save(trainer: SFTTrainer, parts: Parts, folder: Path) -> None:
    """Write the trained weights to `folder/model`, adapters merged (and alone in `folder/adapters`)."""
    from train.merging import merge_adapters, save_model

    sample = [list(example.input_ids) for example in parts.mixture.all[:SAMPLE]]
    model: Any = trainer.accelerator.unwrap_model(trainer.model)
    if parts.config.lora is not None:
        model.save_pretrained(folder / "adapters")
        model = merge_adapters(parts.folder, folder / "adapters", sample)
    save_model(model, parts.folder, folder / "model", sample)


def _ends(by_step: dict[int, float], window: int = 10) -> dict[str, float]:
    """The mean loss of the first and of the last steps."""
    values = [by_step[step] for step in sorted(by_step)]
    return {
        "first": sum(values[:window]) / len(values[:window]),
        "last": sum(values[-window:]) / len(values[-window:]),
    }
