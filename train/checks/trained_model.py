"""Checks shared by SFT and RL: model, template, adapters, disk, judges, rows of the probe."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval.checks.chat_template import template_check
from eval.checks.disk import disk_check
from eval.checks.finding import Check, Finding, passed
from eval.checks.kernels import device_check, device_here, kernels_check
from eval.checks.model_files import gigabytes, local_folder, model_check, weights_bytes
from eval.checks.probe_cost import HEAVY
from eval.checks.task_data import TaskData
from eval.rendering.chat_format import ChatFormat
from eval.rendering.model_format import open_chat_format
from train.checks.adapters_reach import Reach, layers_reached, reach_of
from train.checks.room import bytes_of_run
from train.checks.sampling_speed import seconds_per_sampled_token
from train.rl_config import RlConfig
from train.sft_config import SftConfig

if TYPE_CHECKING:
    from transformers import TrainingArguments

Example = tuple[Sequence[int], Sequence[int]]
"""Ids and labels."""

NOT_MEASURED = "the speed was not measured here"
"""Reason for unknown hours."""


def shared(arguments: TrainingArguments) -> str:
    """The remark of an estimate on a speed that was measured in one process."""
    processes = arguments.world_size
    return "" if processes == 1 else f", shared by {processes} processes whose communication is not included"


class TrainedModel:
    """The model that a configuration trains, opened part by part on demand."""

    def __init__(self, config: SftConfig | RlConfig) -> None:
        self.config = config
        self.data = TaskData(config.probe_config(config.run_dir)) if config.probe else None
        self.seconds_per_token: float | None = None
        """Of training, set by the check "adapters"; None if not measured."""
        self.seconds_per_sampled_token: float | None = None
        """Of sampling with transformers; as above."""

    @functools.cached_property
    def folder(self) -> Path:
        return local_folder(self.config.model, self.config.revision)

    @functools.cached_property
    def chat_format(self) -> ChatFormat:
        return open_chat_format(self.folder, self.config.format)

    @property
    def data_checks(self) -> list[Check]:
        """The rows of the probe, if there is one."""
        return self.data.checks if self.data else []

    def opening_checks(self, refuses_slow_kernels: bool) -> list[Check]:
        """Checks of the device, the model's files, the chat template and the kernels."""
        return [
            device_check(),
            model_check(lambda: self.folder),
            template_check(lambda: self.chat_format),
            kernels_check(lambda: self.folder, refused=refuses_slow_kernels),
        ]

    @property
    def where(self) -> str:
        """The name of the device that speeds are measured on."""
        device = device_here()
        return device.name if device else "CPU"

    def adapters_check(
        self,
        example: Callable[[], Example],
        needs: tuple[str, ...],
        prompts: Callable[[], Sequence[Sequence[int]]] | None = None,
    ) -> Check:
        """The check "adapters", on one example; measures the speed of training, and of sampling after `prompts`."""

        def look() -> Finding:
            from train.model_export import open_model

            size, device = weights_bytes(self.folder), device_here()
            if device is None and size > HEAVY:
                return self._by_names(f"{gigabytes(size)} of weights are too many to run on this CPU")
            model = open_model(self.folder).to("cuda" if device else "cpu")  # type: ignore[arg-type]
            reach: Reach = reach_of(model, self.config.lora, *example())
            self.seconds_per_token = reach.seconds_per_token
            if prompts is not None:
                self.seconds_per_sampled_token = seconds_per_sampled_token(model, prompts())
            return reach.finding

        return Check("adapters", look, needs)

    def _by_names(self, why_no_more: str) -> Finding:
        import torch
        from transformers import AutoConfig, AutoModelForCausalLM

        if self.config.lora is None:
            return passed(f"all weights are trained; nothing computed: {why_no_more}")
        with torch.device("meta"):
            model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(self.folder))
        return layers_reached(model, self.config.lora, why_no_more)

    def disk_check(self, plan: Callable[[], tuple[TrainingArguments, int]]) -> Check:
        """The check "disk"; `plan` returns the trainer's arguments and the number of steps."""

        def needed() -> tuple[int, str]:
            return bytes_of_run(self.folder, self.config.lora, *plan())

        return disk_check(self.config.run_dir, needed, needs=("settings",))
