"""Which device the model runs on, and whether its linear attention has fast kernels there or runs on a slow path."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from packaging.version import Version

from eval.checks.finding import Check, Finding, failed, passed, warned
from eval.checks.model_files import model_settings

PACKAGES = {"fla": "flash-linear-attention", "causal_conv1d": "causal-conv1d"}
"""Packages of linear attention: module to import, and name to install. Both are needed."""
HOPPER, BLACKWELL = 9, (10, 12)
"""Major numbers of compute capabilities."""
TRITON = "3.7.1"
"""In earlier versions, fla's backward pass of the gated delta rule is wrong on Hopper
(fla-org/flash-linear-attention#640)."""
SLOW = "transformers' plain torch path, right and more than ten times slower"


@dataclass(frozen=True)
class Device:
    """A GPU as torch sees it."""

    name: str
    capability: tuple[int, int]
    count: int = 1


def device_here() -> Device | None:
    """The first GPU; None if there is none that torch can use."""
    import torch

    if not torch.cuda.is_available():
        return None
    return Device(torch.cuda.get_device_name(0), torch.cuda.get_device_capability(0), torch.cuda.device_count())


def device_check() -> Check:
    """The check "device"."""

    def look() -> Finding:
        import torch

        found = device_here()
        if found is not None:
            return passed(f"{found.count} x {found.name}, torch {torch.__version__}")
        if Path("/dev/nvidiactl").exists():
            return failed(
                f"this machine has an NVIDIA GPU that torch {torch.__version__} can't use",
                "install the CUDA build of torch at the pinned version, or a driver that it takes",
            )
        return passed("no GPU here: what follows is of this machine's CPU")

    return Check("device", look)


def kernels_check(folder: Callable[[], Path], *, refused: bool = False) -> Check:
    """The check "kernels"; `refused`: whether the run refuses the slow path."""

    def look() -> Finding:
        text = model_settings(folder()).get_text_config()
        return kernels(getattr(text, "layer_types", None) or [], _versions(), device_here(), refused)

    return Check("kernels", look, needs=("model",))


def kernels(layers: list[str], versions: Mapping[str, str], device: Device | None, refused: bool) -> Finding:
    """The finding on what linear attention among `layers` runs on.

    Args:
        versions: versions of the installed ones of `PACKAGES` and of "triton", by module.
    """
    linear = layers.count("linear_attention")
    if not linear:
        return passed("no linear attention: torch's own attention is the fast path")
    about = f"{linear} of {len(layers)} layers are linear attention"
    missing = [name for module, name in PACKAGES.items() if module not in versions]
    install = f"pip install {' '.join(missing)}"
    if missing and device is None:
        return warned(f"{about}; on this CPU: {SLOW}", f"on a GPU they need kernels: {install}")
    if missing:
        told = f"{about} without {' and '.join(missing)}: {SLOW}"
        return failed(told, f"{install}, or --allow-slow") if refused else warned(told, install)
    triton = versions.get("triton")
    found = ", ".join(f"{PACKAGES.get(module, module)} {version}" for module, version in sorted(versions.items()))
    if device is not None and device.capability[0] == HOPPER and (not triton or Version(triton) < Version(TRITON)):
        told = f"{about}; with triton {triton or 'unknown'} on {device.name} their gradients are wrong"
        return failed(told, f"pip install 'triton>={TRITON}'")
    if device is not None and device.capability[0] in BLACKWELL:
        return warned(f"{about}, {found}; on {device.name} NaN gradients were reported", "watch grad_norm in log.jsonl")
    return passed(f"{about}, {found}")


def _versions() -> dict[str, str]:
    found = {module: _version(name) for module, name in PACKAGES.items() if find_spec(module)}
    return found | ({"triton": _version("triton")} if find_spec("triton") else {})


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "0"
