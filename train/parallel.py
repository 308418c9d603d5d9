"""Distributed training: how several processes share the weights, and how they connect to each other.

    torchrun --nproc-per-node 8 -m train.sft --config FILE --parallel zero2
    accelerate launch --config_file configs/accelerate/zero2.yaml -m train.sft --config FILE --parallel zero2

The field `parallel` decides: `ddp` (all weights in every process), `zero2` (optimizer state and gradients sharded),
`zero3` (weights too) or `fsdp2` (the same in plain torch, on GPUs only). A launcher only starts processes; one that is
configured for something else is refused. One process shards nothing. DeepSpeed's settings are in `configs/deepspeed/`.

`train/global_batch.py` divides a global batch among processes; logged losses are those of one process. Only the main
process writes, judges and probes; the others wait for it for at most `trl.ddp_timeout` seconds.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import warnings
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from eval.config import ConfigError

Parallel = Literal["ddp", "zero2", "zero3", "fsdp2"]

CONFIGS = Path(__file__).parent.parent / "configs"
TIMEOUT_S = 7200
"""Default of `trl.ddp_timeout`, in seconds; a probe may take longer than torch's default of 1800."""
LAUNCHER = ("ACCELERATE_USE_DEEPSPEED", "ACCELERATE_USE_FSDP", "ACCELERATE_MIXED_PRECISION")
"""Environment variables of `accelerate launch` for what the configuration decides."""
CONFIGURED = {"accelerator_config": {"use_configured_state": True}}
"""Makes a trainer use the existing process group instead of resetting the state and starting its own."""


def processes() -> int:
    """Number of processes that the launcher has started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def extras(parallel: Parallel) -> tuple[str, ...]:
    """The optional dependencies of this project that training with `parallel` needs."""
    return ("train", "deepspeed") if parallel in ("zero2", "zero3") else ("train",)


def refuse_probe(parallel: Parallel) -> None:
    """Refuse a held-out probe where FSDP2 shards the weights, because the first process generates for it alone.

    Raises:
        ConfigError: `parallel` is fsdp2.
    """
    if parallel == "fsdp2":
        raise ConfigError(
            "parallel is fsdp2 and probe is set: no process can generate with its shard of the weights alone; "
            "set probe to null, or parallel to zero3"
        )


def connect_processes(parallel: Parallel, timeout_s: float) -> dict[str, Any]:
    """Connect the processes of a launcher; returns the settings of a transformers trainer for `parallel`.

    Raises:
        ConfigError: the launcher is configured for another kind, or this kind's requirements are missing.
    """
    _refuse_other_launcher(parallel)
    for name in LAUNCHER:
        os.environ.pop(name, None)
    on_cpu = _on_cpu()
    if on_cpu:
        # If DeepSpeed is installed, peft imports it, and it warns that it had to guess its accelerator.
        os.environ.setdefault("DS_ACCELERATOR", "cpu")
    if processes() == 1:
        return {}
    if parallel == "fsdp2":
        return _connect_fsdp2(on_cpu, timeout_s)
    if parallel == "ddp":
        _init_process_group(timeout_s, cpu=on_cpu)
        return CONFIGURED
    return _connect_deepspeed(CONFIGS / "deepspeed" / f"{parallel}.json", on_cpu, timeout_s)


def refuse_other_process_count(run_dir: Path, processes: int) -> None:
    """Refuse to resume a run in `run_dir` that was started with another number of processes.

    Raises:
        ConfigError: it was; the message says what to do.
    """
    try:
        protocol = json.loads((run_dir / "manifest.json").read_text(encoding="utf-8"))["protocol"]
    except (OSError, ValueError, KeyError):
        return  # no run yet, or a manifest that `RunDir` refuses with a better message
    before = protocol.get("processes") if isinstance(protocol, dict) else None
    if before not in (None, processes):
        raise ConfigError(
            f"{run_dir} holds a run of {before} processes, and now there are {processes}; resume with {before} "
            f"(--processes {before} in eval.doctor), because optimizer and random states belong to a number of "
            "processes, or choose another --run-dir"
        )


def _on_cpu() -> bool:
    import torch

    return os.environ.get("ACCELERATE_USE_CPU", "").lower() == "true" or not torch.cuda.is_available()


def _init_process_group(timeout_s: float, **how: Any) -> None:
    """Start the process group. transformers would start one itself, but not on CPUs."""
    import torch
    from accelerate import PartialState

    state = PartialState(timeout=timedelta(seconds=timeout_s), **how)
    if state.device is not None and state.device.type == "cpu":
        state.device = torch.device("cpu")  # torch.load cannot map a checkpoint's optimizer to "cpu:0"


def _connect_deepspeed(settings: Path, on_cpu: bool, timeout_s: float) -> dict[str, Any]:
    if on_cpu:
        os.environ.pop("ACCELERATE_USE_CPU", None)  # if set, accelerate ignores DeepSpeed
        _let_deepspeed_compile()
    os.environ["ACCELERATE_USE_DEEPSPEED"] = "true"
    # DeepSpeed uses deprecated names of torch.distributed.
    warnings.filterwarnings("ignore", message="`torch.distributed", category=FutureWarning)
    try:
        import deepspeed  # noqa: F401
    except ImportError as error:
        raise ConfigError(f"parallel {settings.stem} needs DeepSpeed: pip install '.[deepspeed]' ({error})") from error
    _init_process_group(timeout_s, **({"backend": "gloo"} if on_cpu else {}))
    return {"deepspeed": _read(settings), **CONFIGURED}


def _let_deepspeed_compile() -> None:
    """On CPUs, DeepSpeed compiles an extension on its first start: minutes, cached in `~/.cache/torch_extensions`."""
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) is None:
        raise ConfigError(
            f"without a GPU, DeepSpeed compiles an extension, and there is no compiler {compiler}; install one"
        )
    # pip installs ninja next to Python, but torch only looks for it on the PATH.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


def _connect_fsdp2(on_cpu: bool, timeout_s: float) -> dict[str, Any]:
    if on_cpu:
        raise ConfigError("parallel fsdp2 needs GPUs: accelerate shards nothing on CPUs; use ddp, zero2 or zero3")
    settings = _read(CONFIGS / "accelerate" / "fsdp2.yaml")["fsdp_config"]
    # As `accelerate launch` does: full states are gathered on the CPU, so it starts gloo in addition to nccl.
    os.environ |= {"ACCELERATE_USE_FSDP": "true", "FSDP_STATE_DICT_TYPE": settings["fsdp_state_dict_type"]}
    _init_process_group(timeout_s)
    return {"fsdp": True, "fsdp_config": dict(settings), **CONFIGURED}


def _read(path: Path) -> dict[str, Any]:
    try:
        return dict(yaml.safe_load(path.read_text(encoding="utf-8")))  # JSON is YAML
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}; restore it from the repository") from error


def _refuse_other_launcher(parallel: Parallel) -> None:
    """Refuse `accelerate launch` with a configuration file for another kind than `parallel`."""
    kind = _launcher_kind()
    if kind not in (None, parallel):
        known = f"set --parallel {kind}, or " if kind in get_args(Parallel) else ""
        raise ConfigError(
            f"accelerate launch is configured for {kind}, and parallel is {parallel}; {known}launch with "
            f"configs/accelerate/{parallel}.yaml or torchrun"
        )


def _launcher_kind() -> str | None:
    """The kind in the configuration file of `accelerate launch`; None if the launcher only starts processes."""

    def is_set(name: str) -> bool:
        return os.environ.get(name, "").lower() == "true"

    if is_set("ACCELERATE_USE_FSDP"):
        return f"fsdp{os.environ.get('FSDP_VERSION', '1')}"
    if not is_set("ACCELERATE_USE_DEEPSPEED"):
        return None
    file = os.environ.get("ACCELERATE_DEEPSPEED_CONFIG_FILE")
    settings = _read(Path(file)).get("zero_optimization", {}) if file else {}
    return f"zero{settings.get('stage', os.environ.get('ACCELERATE_DEEPSPEED_ZERO_STAGE', '?'))}"
