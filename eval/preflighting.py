"""Finds the command that a configuration is for, and its checks: files in the `preflight/` folders of the packages.

Each has `CONFIG`, the model of the command's configuration, and `checks(config)`; for training, `checks(config,
processes)`. Packages are found by name, so that `eval` does not import those that depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from eval import plugin
from eval.config import ConfigError

PACKAGES = ("eval", "train", "data_gen")


def preflights() -> dict[str, ModuleType]:
    """The preflight modules by command, such as "train.sft"."""
    folders = [(package, f"{package}.preflight") for package in PACKAGES if find_spec(package)]
    return {
        f"{package}.{name}": plugin.load(folder, name)
        for package, folder in folders
        if find_spec(folder)
        for name in plugin.names(folder)
    }


def command_of(values: Mapping[str, Any], where: str) -> str:
    """The command whose configuration has the keys of `values`.

    Raises:
        ConfigError: there is none.
    """
    known = preflights()
    fits = {name: _misfits(preflight.CONFIG, values) for name, preflight in known.items()}
    best = min(fits, key=lambda name: fits[name])
    if not values or fits[best] >= len(values):
        raise ConfigError(
            f"{where} is not a configuration of {', '.join(known)}: its keys are {', '.join(values) or 'none'}"
        )
    return best


def exact_command_of(values: Mapping[str, Any]) -> str | None:
    """The command whose configuration has all keys of `values` and requires no others; None if there is none."""
    fits = (name for name, preflight in preflights().items() if not _misfits(preflight.CONFIG, values))
    return next(fits, None)


def _misfits(config: Any, values: Mapping[str, Any]) -> int:
    """Number of keys that the configuration does not have, plus required keys that `values` lacks."""
    required = {name for name, field in config.model_fields.items() if field.is_required()}
    return len(values.keys() - config.model_fields.keys()) + len(required - values.keys())
