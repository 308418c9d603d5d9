"""What a fine-tuning run works with, opened from its configuration: weights, format, examples, trainer arguments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.rendering.chat_format import ChatFormat
from eval.rendering.model_format import open_chat_format
from eval.weights import model_folder
from train.base_model import OnBaseModel
from train.global_batch import division
from train.held_out_probe import HeldOutProbe, open_probe
from train.mixture import Mixture, mix
from train.sft_config import SftConfig
from train.training_rows import RowFile, read_training_rows

if TYPE_CHECKING:
    from peft import PeftModel
    from transformers import PreTrainedModel
    from trl import SFTConfig as Arguments

NO_EFFECT = {"name", "report_to", "run_dir", "data_dir", "allow_slow", "show_mask", "dry_run"}
"""Fields that do not affect what is trained."""
BY_CONTENT = {"data", "replay", "model", "revision", "format", "probe"}
"""Fields that enter the protocol through the content they refer to."""


@dataclass(frozen=True)
class SftParts(OnBaseModel):
    """The opened parts of one run; weights are only read by `open_model`."""

    config: SftConfig
    folder: Path
    """Of the base model."""
    chat_format: ChatFormat
    conversations: RowFile
    replay: RowFile | None
    mixture: Mixture
    probe: HeldOutProbe | None
    planned: int | None = None
    """Number of processes if the run is only planned; None to use those that a launcher has started."""

    @property
    def data_files(self) -> dict[str, str]:
        """SHA-256 of each data file, by path."""
        return {str(file.path.resolve()): file.sha256 for file in (self.conversations, self.replay) if file}

    @cached_property
    def protocol(self) -> dict[str, Any]:
        """Everything that determines the trained weights; a run folder with another protocol is refused."""
        settings = self.config.model_dump(mode="json", exclude=NO_EFFECT | BY_CONTENT)
        replay = self.config.replay
        return {
            "base": self.model_id,
            "processes": self.arguments.world_size,
            "format": self.chat_format.name,
            "format_options": dict(self.chat_format.options),
            "template_sha": self.chat_format.template_sha,
            "data": self.conversations.sha256,
            "replay": replay and self.replay and {**replay.model_dump(exclude={"path"}), "data": self.replay.sha256},
            "probe": self._probe_protocol,
            **settings,
        }

    @property
    def _probe_protocol(self) -> dict[str, Any] | None:
        """The settings that affect the probe's metrics; with a guard, these decide when training stops."""
        settings = self.config.probe
        if settings is None or self.probe is None:
            return None
        config = self.probe.config.model_dump(mode="json", include={"tasks", "answers", "sampling", "seed"})
        return {**config, "judge": self.probe.judge.id, **settings.model_dump(include={"every", "guard"})}

    @cached_property
    def arguments(self) -> Arguments:
        """The arguments of TRL's trainer."""
        from train.trl_arguments import trl_arguments

        return trl_arguments(self.config, self.config.run_dir / "checkpoints", self.planned)

    @property
    def division(self) -> str:
        """How a step is divided among processes and passes, in words."""
        return division(self.arguments, self.config.trl)

    @property
    def batch(self) -> int:
        """Examples per optimizer step, over all processes."""
        arguments = self.arguments
        return int(arguments.train_batch_size * arguments.gradient_accumulation_steps * arguments.world_size)

    @property
    def steps(self) -> int:
        """Optimizer steps of the whole run, counted as the trainer counts them."""
        arguments = self.arguments
        if arguments.max_steps > 0:
            return int(arguments.max_steps)
        batches = math.ceil(len(self.mixture.all) / (arguments.train_batch_size * arguments.world_size))
        per_epoch = max(1, math.ceil(batches / arguments.gradient_accumulation_steps))
        return math.ceil(per_epoch * arguments.num_train_epochs)

    def open_model(self) -> PreTrainedModel | PeftModel:
        """The weights to train, with fresh adapters if the configuration has any."""
        import torch
        from transformers import set_seed

        from train.adapters import add_adapters
        from train.model_export import open_model

        model = open_model(self.folder, getattr(torch, self.config.dtype))
        set_seed(self.config.seed)  # for the adapters; after loading, during which ZeRO-3 draws random numbers
        return model if self.config.lora is None else add_adapters(model, self.config.lora)


def open_parts(config: SftConfig, planned: int | None = None) -> SftParts:
    """Open everything that `config` names, except the weights.

    Args:
        planned: number of processes if the run is only planned; None to use those that a launcher has started.

    Raises:
        ConfigError: data, model or replay are missing, malformed or incompatible.
    """
    conversations = read_training_rows(config.data)
    replay = read_training_rows(config.replay.path) if config.replay else None
    folder = model_folder(config.model, config.revision)
    chat_format = open_chat_format(folder, config.format)
    mixture = mix(
        conversations,
        replay,
        chat_format,
        train_on=config.train_on,
        max_length=config.max_length,
        seed=config.seed,
        **({"share": config.replay.share, "weight": config.replay.weight} if config.replay else {}),
    )
    probe = None
    if config.probe is not None:
        files = [file for file in (conversations, replay) if file]
        probe = open_probe(config.probe_config(config.run_dir), [row for file in files for row in file.rows])
    return SftParts(config, folder, chat_format, conversations, replay, mixture, probe, planned)
