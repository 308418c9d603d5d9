"""The pinned versions are compatible with each other and are the installed ones."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def pinned(repository: Path) -> dict[str, str]:
    lines = (repository / "requirements" / "cpu.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def installed() -> dict[str, importlib.metadata.Distribution]:
    return {canonicalize_name(d.metadata["Name"]): d for d in importlib.metadata.distributions()}


def test_the_pins_meet_every_requirement_of_every_pinned_package(repository: Path) -> None:
    pins, packages = pinned(repository), installed()
    conflicts = []
    for name in {*pins, "userturn"} & packages.keys():
        for text in packages[name].requires or []:
            needed = Requirement(text)
            wanted = canonicalize_name(needed.name)
            if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
                continue
            if wanted not in pins or not needed.specifier.contains(pins[wanted], prereleases=True):
                conflicts.append(f"{name} requires {needed}, but the pin is {pins.get(wanted)}")
    assert not conflicts, "\n".join(conflicts)


def test_installed_versions_are_the_pinned_ones(repository: Path) -> None:
    packages = installed()
    if "userturn" not in packages:
        pytest.skip("userturn is not installed; `make setup` installs it with the pins")
    versions = {name: packages[name].version.split("+")[0] for name in pinned(repository) if name in packages}
    assert versions == pinned(repository)


def test_each_dependency_has_a_comment_that_explains_it(repository: Path) -> None:
    text = (repository / "pyproject.toml").read_text(encoding="utf-8")
    block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.DOTALL | re.MULTILINE)
    assert block
    assert all(re.search(r'",\s+# \w', line) for line in block[1].splitlines())
