"""Turns the mapping `trl` of a configuration into TRL's `SFTConfig`: passes settings through, refuses unsafe ones.

Only settings are named here that this project sets itself, or that would train something other than configured.
`build_arguments` serves all trainers of TRL; for GRPO see `train/grpo_arguments.py`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from eval.config import ConfigError, options_for
from train.global_batch import batch_settings
from train.parallel import TIMEOUT_S, Parallel, connect_processes, processes
from train.sft_config import SftConfig

if TYPE_CHECKING:
    from trl import SFTConfig as Arguments


class Trained(Protocol):
    """What the configurations of SFT and RL have in common."""

    @property
    def trl(self) -> dict[str, Any]: ...

    @property
    def parallel(self) -> Parallel: ...

    @property
    def global_batch_size(self) -> int | None: ...


class Settings(Protocol):
    """What the arguments of TRL's trainers have in common."""

    per_device_train_batch_size: int


A = TypeVar("A", bound=Settings)

OURS_ALWAYS = {
    "output_dir": "run_dir",
    "run_name": "name",
    "seed": "seed",
    "data_seed": "seed",
    "report_to": "report_to",
    "resume_from_checkpoint": "run_dir, whose last complete checkpoint is used",
    "model_init_kwargs": "model, revision and dtype",
    **dict.fromkeys(("deepspeed", "fsdp", "fsdp_config", "accelerator_config"), "parallel"),
}
"""Settings of any trainer that are set through another field of the configuration, with that field."""

REFUSED_ALWAYS = {
    "auto_find_batch_size": "a batch size that changes automatically changes what a step is; set the batch size",
    "use_liger_kernel": "it replaces the forward pass that contains the fused head",
    "remove_unused_columns": "the examples are made here, not by TRL",
    "eval_strategy": "training is evaluated by the probe",
    "load_best_model_at_end": "training is evaluated by the probe",
    "push_to_hub": "upload <run_dir>/model with `hf upload` after you have checked it",
    "ignore_data_skip": "a resumed run would see other examples than an uninterrupted one",
    "save_only_model": "a run without optimizer states cannot be resumed",
    "logging_steps": "every step is logged",
    "logging_strategy": "every step is logged",
}
"""Settings that no trainer allows, with the reason."""

ALWAYS: dict[str, Any] = {
    "remove_unused_columns": False,
    "logging_steps": 1,
    "logging_nan_inf_filter": False,
    "report_to": [],
    "disable_tqdm": True,
}
"""Settings of every run; logging and progress are this project's."""
ABOVE_ZERO = (
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "num_train_epochs",
    "max_steps",
    "save_steps",
    "learning_rate",
)
"""Settings that must be positive for a run to train; TRL accepts 0 or fails after the model is loaded."""

OURS = {**OURS_ALWAYS, "max_length": "max_length"}

REFUSED = {
    **REFUSED_ALWAYS,
    "packing": "in a packed row the recurrent state of linear attention leaks from one example into the next",
    "padding_free": "in a flattened batch the recurrent state of linear attention leaks from one example into the next",
    "packing_strategy": "examples are not packed",
    "eval_packing": "examples are not packed",
    "assistant_only_loss": "labels are made by the chat format; choose whose turns with train_on",
    "completion_only_loss": "labels are made by the chat format; choose whose turns with train_on",
    "label_smoothing_factor": "it disables the fused head",
    "loss_type": "only the cross entropy is supported and tested",
    "chat_template_path": "the chat template is the model's own",
    "eos_token": "the tokens that end a turn are set in eval/formats/",
    "pad_token": "padding is masked, so its token does not matter",
    "truncation_mode": "examples that are too long are left out, never truncated",
    "shuffle_dataset": "the order of examples is drawn from seed and epoch",
    "train_sampling_strategy": "the order of examples is drawn from seed and epoch, grouped by length",
    "dataset_kwargs": "the examples are made here, not by TRL",
    "dataset_text_field": "the examples are made here, not by TRL",
}


def trl_arguments(config: SftConfig, folder: Path, planned: int | None = None) -> Arguments:
    """The arguments of the trainer, which writes its checkpoints into `folder`. Imports trl.

    Differs from TRL's defaults: bf16 and gradient checkpointing only on a GPU, and a checkpoint every 50 steps, of
    which the last two are kept.

    Args:
        planned: number of processes if the run is only planned; None to use those that a launcher has started.

    Raises:
        ConfigError: a setting is unknown to TRL, has a wrong value, or is one of the settings above.
    """
    from trl import SFTConfig as Arguments

    fixed = {
        "output_dir": str(folder),
        "run_name": config.name,
        "seed": config.seed,
        "max_length": None,  # examples that are too long were already left out
        "dataset_kwargs": {"skip_prepare_dataset": True},
    }
    return build_arguments(Arguments, config, fixed, OURS, REFUSED, planned)


def build_arguments(
    cls: type[A],
    config: Trained,
    fixed: Mapping[str, Any],
    ours: Mapping[str, str],
    refused: Mapping[str, str],
    planned: int | None,
) -> A:
    """`config.trl` and `fixed` as arguments of a TRL trainer; also connects the processes of a launcher.

    Args:
        ours: settings that are set through another field, with that field.
        refused: settings that cannot be set, with the reason.
        planned: as for `trl_arguments`.

    Raises:
        ConfigError: a setting is unknown to `cls`, has a wrong value, or is one of those.
    """
    import torch

    options = _options(cls, config.trl, ours, refused)
    defaults_of_trl = {name: one.default for name, one in inspect.signature(cls).parameters.items()}
    batch = batch_settings(config.global_batch_size, options, defaults_of_trl, planned or processes())
    gpu = torch.cuda.is_available()
    if options.get("bf16") and not gpu:
        raise ConfigError("trl.bf16 is true and there is no GPU here; leave it out, or use a machine with a GPU")
    defaults: dict[str, Any] = {
        "bf16": gpu and not options.get("fp16", False),
        "gradient_checkpointing": gpu,
        "save_steps": 50,
        "save_total_limit": 2,
        "dataloader_pin_memory": gpu,
        "ddp_timeout": TIMEOUT_S,
    }
    distributed = connect_processes(config.parallel, float({**defaults, **options}["ddp_timeout"]))
    try:
        constructor = cls if planned is None else _planned(cls, planned)
        made: Any = constructor(**{**defaults, **ALWAYS, **fixed, **options, **batch, **distributed})
    except (ValueError, TypeError, ImportError) as error:
        raise ConfigError(f"trl: {error}") from error
    if made.n_gpu > 1:
        made._n_gpu = 1  # otherwise DataParallel runs a copy of the model with its own batch on each GPU
    return made  # type: ignore[no-any-return]


def _planned(cls: type[A], processes: int) -> type[A]:
    """`cls` as if `processes` processes were running, without starting them."""

    class Planned(cls):  # type: ignore[misc, valid-type]
        @property
        def world_size(self) -> int:
            return processes

    return Planned


def _options(cls: Any, given: Mapping[str, Any], ours: Mapping[str, str], refused: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a configuration, after checking that each is allowed, exists and is positive where it must be."""
    given = {name: value for name, value in given.items() if value is not None or name not in ABOVE_ZERO}
    for name in given:
        if name in ours:
            raise ConfigError(f"trl.{name} is not set here; it comes from {ours[name]}")
        if name in refused:
            raise ConfigError(f"trl.{name} cannot be set: {refused[name]}")
    options = options_for(cls.__init__, given, "trl", ours=[*ours, *refused])
    for name in ABOVE_ZERO:
        if not 0 < options.get(name, 1) < math.inf:
            raise ConfigError(f"trl.{name} is {options[name]:g}; it must be a finite number above 0")
    return options
