"""Plugins are modules in a folder, found by file name: `gsm8k` means `eval/tasks/gsm8k.py`. No other registration."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def names(package: str) -> list[str]:
    """The plugins of a package such as "eval.tasks", sorted."""
    folder = importlib.import_module(package)
    return sorted(module.name for module in pkgutil.iter_modules(folder.__path__))


def load(package: str, name: str) -> ModuleType:
    """Import the plugin `name` of `package`.

    Raises:
        ValueError: the package has no such module; the message lists its modules.
    """
    known = names(package)
    if name not in known:
        folder = package.replace(".", "/")
        raise ValueError(f"no {folder}/{name}.py; {folder} has {', '.join(known)}")
    return importlib.import_module(f"{package}.{name}")
