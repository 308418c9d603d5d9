"""The mapping `trl` of a configuration as TRL's `SFTConfig`: passed through, with what must not be set refused.

It names no setting of TRL but those that are ours to fill in and those that would train something else than is said.
What any trainer of TRL needs is `passed_through`; for GRPO, see `train/grpo_arguments.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from eval.config import ConfigError, options_for
from train.global_batch import divided
from train.parallel import TIMEOUT_S, Parallel, joined, processes
from train.sft_config import SftConfig

if TYPE_CHECKING:
    from trl import SFTConfig as Arguments


class Trained(Protocol):
    """What a configuration of any training has."""

    @property
    def trl(self) -> dict[str, Any]: ...

    @property
    def parallel(self) -> Parallel: ...

    @property
    def global_batch_size(self) -> int | None: ...


class Settings(Protocol):
    """Arguments of any trainer of TRL."""

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
"""Settings of any trainer that another field of the configuration has."""

REFUSED_ALWAYS = {
    "auto_find_batch_size": "a batch size that changes by itself changes what a step is; set the batch size",
    "use_liger_kernel": "it replaces the forward pass that the fused head is in",
    "remove_unused_columns": "the examples are made here, not by TRL",
    "eval_strategy": "what is watched is the probe",
    "load_best_model_at_end": "what is watched is the probe",
    "push_to_hub": "upload <run_dir>/model with `hf upload` when you have looked at it",
    "ignore_data_skip": "a resumed run would see other examples than an uninterrupted one",
    "save_only_model": "a run without optimizer states cannot be resumed",
    "logging_steps": "every step is logged",
    "logging_strategy": "every step is logged",
}
"""Settings that would break what a run of any trainer promises, with the reason."""

ALWAYS: dict[str, Any] = {
    "remove_unused_columns": False,
    "logging_steps": 1,
    "logging_nan_inf_filter": False,
    "report_to": [],
    "disable_tqdm": True,
}
"""Settings of every run; what a run logs and shows is ours."""
ABOVE_ZERO = ("per_device_train_batch_size", "gradient_accumulation_steps", "num_train_epochs")
"""Settings without which a run has no step, or a step no example; TRL takes a 0."""

OURS = {**OURS_ALWAYS, "max_length": "max_length"}

REFUSED = {
    **REFUSED_ALWAYS,
    "packing": "in a packed row the recurrent state of linear attention leaks from one example into the next",
    "padding_free": "in a flattened batch the recurrent state of linear attention leaks from one example into the next",
    "packing_strategy": "examples are not packed",
    "eval_packing": "examples are not packed",
    "assistant_only_loss": "labels are made by the chat format; choose whose turns with train_on",
    "completion_only_loss": "labels are made by the chat format; choose whose turns with train_on",
    "label_smoothing_factor": "it switches the fused head off",
    "loss_type": "the loss is the cross entropy, which is tested",
    "chat_template_path": "the chat template is the model's own",
    "eos_token": "which token ends a turn is in eval/formats/",
    "pad_token": "padding is masked, so that it has no say",
    "truncation_mode": "a longer example is left out, never cut",
    "shuffle_dataset": "the order of examples is drawn from seed and epoch",
    "train_sampling_strategy": "the order of examples is drawn from seed and epoch, grouped by length",
    "dataset_kwargs": "the examples are made here, not by TRL",
    "dataset_text_field": "the examples are made here, not by TRL",
}


def trl_arguments(config: SftConfig, folder: Path, planned: int | None = None) -> Arguments:
    """The arguments of the trainer, which writes its checkpoints into `folder`. Imports trl.

    On top of TRL's defaults: bf16 and gradient checkpointing only where there is a GPU, checkpoints every 50 steps of
    which the last two are kept.

    Args:
        planned: processes of a run that is only planned; None for those that a launcher has started.

    Raises:
        ConfigError: a setting that TRL does not have, a value of the wrong kind, or one of the settings above.
    """
    from trl import SFTConfig as Arguments

    fixed = {
        "output_dir": str(folder),
        "run_name": config.name,
        "seed": config.seed,
        "max_length": None,  # examples are measured when they are made
        "dataset_kwargs": {"skip_prepare_dataset": True},
    }
    return passed_through(Arguments, config, fixed, OURS, REFUSED, planned)


def passed_through(
    cls: type[A],
    config: Trained,
    fixed: Mapping[str, Any],
    ours: Mapping[str, str],
    refused: Mapping[str, str],
    planned: int | None,
) -> A:
    """`config.trl`, and `fixed`, as arguments of a trainer of TRL; the processes of a launcher meet.

    Args:
        ours: settings that are not given, with the field that has them.
        refused: settings that cannot be given, with the reason.
        planned: as for `trl_arguments`.

    Raises:
        ConfigError: a setting that `cls` does not have, a value of the wrong kind, or one of those.
    """
    import torch

    options = _options(cls, config.trl, ours, refused)
    defaults_of_trl = {name: one.default for name, one in inspect.signature(cls).parameters.items()}
    batch = divided(config.global_batch_size, options, defaults_of_trl, planned or processes())
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
    together = joined(config.parallel, float({**defaults, **options}["ddp_timeout"]))
    try:
        constructor = cls if planned is None else _planned(cls, planned)
        made: Any = constructor(**{**defaults, **ALWAYS, **fixed, **options, **batch, **together})
    except (ValueError, TypeError, ImportError) as error:
        raise ConfigError(f"trl: {error}") from error
    if made.n_gpu > 1:
        made._n_gpu = 1  # else one process has a copy of the model on each GPU (DataParallel), each with a batch
    return made  # type: ignore[no-any-return]


def _planned(cls: type[A], processes: int) -> type[A]:
    """`cls` with the arithmetic of so many processes, none of which is started."""

    class Planned(cls):  # type: ignore[misc, valid-type]
        @property
        def world_size(self) -> int:
            return processes

    return Planned


def _options(cls: Any, given: Mapping[str, Any], ours: Mapping[str, str], refused: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a configuration, once each may be set, exists and makes training train."""
    given = {name: value for name, value in given.items() if value is not None or name not in ABOVE_ZERO}
    for name in given:
        if name in ours:
            raise ConfigError(f"trl.{name} is not set here; it comes from {ours[name]}")
        if name in refused:
            raise ConfigError(f"trl.{name} cannot be set: {refused[name]}")
    options = options_for(cls.__init__, given, "trl", ours=[*ours, *refused])
    for name in ABOVE_ZERO:
        if options.get(name, 1) <= 0:
            raise ConfigError(f"trl.{name} is {options[name]:g}, so that nothing would be trained; it must be above 0")
    return options
