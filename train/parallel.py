"""Several processes: how they share the weights, and how they connect to each other.

    torchrun --nproc-per-node 8 -m train.sft --config FILE --parallel zero2
    accelerate launch --config_file configs/accelerate/zero2.yaml -m train.sft --config FILE --parallel zero2

The field `parallel` decides: `ddp` (all weights in every process), `zero2` (optimizer state and gradients divided),
`zero3` (weights too) or `fsdp2` (the same in plain torch, on GPUs alone). A launcher only starts processes; one that
was told something else is refused. One process divides nothing. DeepSpeed's settings are in `configs/deepspeed/`.

How a global batch is divided among them is in `train/global_batch.py`; losses are those of one process. The first
process alone writes, judges and probes, and the others wait at most `trl.ddp_timeout` seconds for it.
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
"""Seconds that processes wait for each other by default; torch's 1800 are less than a probe may take."""
LAUNCHER = ("ACCELERATE_USE_DEEPSPEED", "ACCELERATE_USE_FSDP", "ACCELERATE_MIXED_PRECISION")
"""What `accelerate launch` says in the environment and a configuration decides."""
CONFIGURED = {"accelerator_config": {"use_configured_state": True}}
"""Lets a trainer take the process group that is there, instead of forgetting it and beginning its own."""


def processes() -> int:
    """How many processes the launcher has started."""
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


def joined(parallel: Parallel, timeout_s: float) -> dict[str, Any]:
    """Let the processes of a launcher meet; returns the settings of a trainer of transformers for `parallel`.

    Raises:
        ConfigError: the launcher was told another kind, or what this kind needs is not here.
    """
    _refuse_other_launcher(parallel)
    for name in LAUNCHER:
        os.environ.pop(name, None)
    on_cpu = _on_cpu()
    if on_cpu:
        # Where DeepSpeed is installed peft imports it, and it warns of its own guess.
        os.environ.setdefault("DS_ACCELERATOR", "cpu")
    if processes() == 1:
        return {}
    if parallel == "fsdp2":
        return _joined_fsdp2(on_cpu, timeout_s)
    if parallel == "ddp":
        _meet(timeout_s, cpu=on_cpu)
        return CONFIGURED
    return _joined_deepspeed(CONFIGS / "deepspeed" / f"{parallel}.json", on_cpu, timeout_s)


def refuse_other_number(run_dir: Path, processes: int) -> None:
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


def _meet(timeout_s: float, **how: Any) -> None:
    """Begin the process group. transformers would begin one by itself, but none on CPUs."""
    import torch
    from accelerate import PartialState

    state = PartialState(timeout=timedelta(seconds=timeout_s), **how)
    if state.device is not None and state.device.type == "cpu":
        state.device = torch.device("cpu")  # "cpu:0" is no place where torch.load can put a checkpoint's optimizer


def _joined_deepspeed(settings: Path, on_cpu: bool, timeout_s: float) -> dict[str, Any]:
    if on_cpu:
        os.environ.pop("ACCELERATE_USE_CPU", None)  # with it, accelerate ignores DeepSpeed
        _let_deepspeed_compile()
    os.environ["ACCELERATE_USE_DEEPSPEED"] = "true"
    warnings.filterwarnings("ignore", message="`torch.distributed", category=FutureWarning)  # names that DeepSpeed uses
    try:
        import deepspeed  # noqa: F401
    except ImportError as error:
        raise ConfigError(f"parallel {settings.stem} needs DeepSpeed: pip install '.[deepspeed]' ({error})") from error
    _meet(timeout_s, **({"backend": "gloo"} if on_cpu else {}))
    return {"deepspeed": _read(settings), **CONFIGURED}


def _let_deepspeed_compile() -> None:
    """DeepSpeed compiles an extension for CPUs when it first starts: minutes, kept in `~/.cache/torch_extensions`."""
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) is None:
        raise ConfigError(f"DeepSpeed compiles an extension where there is no GPU, and there is no {compiler}")
    # pip's ninja is beside Python, and torch looks for it on the PATH alone.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


def _joined_fsdp2(on_cpu: bool, timeout_s: float) -> dict[str, Any]:
    if on_cpu:
        raise ConfigError("parallel fsdp2 needs GPUs: accelerate shards nothing on CPUs; take ddp, zero2 or zero3")
    settings = _read(CONFIGS / "accelerate" / "fsdp2.yaml")["fsdp_config"]
    # As `accelerate launch` does: whole states are gathered on the CPU, for which it then begins gloo beside nccl.
    os.environ |= {"ACCELERATE_USE_FSDP": "true", "FSDP_STATE_DICT_TYPE": settings["fsdp_state_dict_type"]}
    _meet(timeout_s)
    return {"fsdp": True, "fsdp_config": dict(settings), **CONFIGURED}


def _read(path: Path) -> dict[str, Any]:
    try:
        return dict(yaml.safe_load(path.read_text(encoding="utf-8")))  # JSON is YAML
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}; it comes with the repository") from error


def _refuse_other_launcher(parallel: Parallel) -> None:
    """Refuse `accelerate launch` with a file for another kind than `parallel`."""
    told = _told_by_launcher()
    if told not in (None, parallel):
        known = f"set --parallel {told}, or " if told in get_args(Parallel) else ""
        raise ConfigError(
            f"accelerate launch was told {told}, and parallel is {parallel}; {known}launch with "
            f"configs/accelerate/{parallel}.yaml or torchrun"
        )


def _told_by_launcher() -> str | None:
    """The kind that `accelerate launch` was told by its file; None of a launcher that only starts processes."""

    def is_set(name: str) -> bool:
        return os.environ.get(name, "").lower() == "true"

    if is_set("ACCELERATE_USE_FSDP"):
        return f"fsdp{os.environ.get('FSDP_VERSION', '1')}"
    if not is_set("ACCELERATE_USE_DEEPSPEED"):
        return None
    file = os.environ.get("ACCELERATE_DEEPSPEED_CONFIG_FILE")
    settings = _read(Path(file)).get("zero_optimization", {}) if file else {}
    return f"zero{settings.get('stage', os.environ.get('ACCELERATE_DEEPSPEED_ZERO_STAGE', '?'))}"
