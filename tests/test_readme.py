"""The README is the map: its tree is the tree on disk, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

MAPPED = ("eval", "data_gen", "train", "configs", "benchmarks", "slurm", "docs")
"""Folders whose files the map must name, tests and package markers aside."""


def mapped_files(readme: str) -> set[str]:
    """Paths of the tree in the README: two spaces a level, the first word of a line is a name."""
    block = re.search(r"## The tree\n+```\n(.*?)```", readme, re.DOTALL)
    assert block, "the README has no tree"
    files, folders = set(), []
    for line in block[1].splitlines():
        depth, name = (len(line) - len(line.lstrip())) // 2, line.split()[0]
        folders = folders[:depth]
        if name.endswith("/"):
            folders.append(name)
        else:
            files.add("".join([*folders, name]))
    return files


def files_on_disk(repository: Path) -> set[str]:
    found = {path for folder in MAPPED for path in (repository / folder).rglob("*") if path.is_file()}
    return {
        str(path.relative_to(repository))
        for path in found
        if "__pycache__" not in path.parts and path.name != "__init__.py"
    }


def test_the_tree_is_the_disk(repository: Path) -> None:
    mapped = mapped_files((repository / "README.md").read_text(encoding="utf-8"))
    on_disk = files_on_disk(repository)
    assert {path for path in mapped if "/" in path} == on_disk
    assert all((repository / path).exists() for path in mapped)


def test_the_readme_is_short_and_its_commands_exist(repository: Path) -> None:
    readme = (repository / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 150
    targets = set(re.findall(r"^([\w-]+):", (repository / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z][\w-]*)`?", readme))
    assert named and named <= targets
    for module in set(re.findall(r"python -m ([\w.]+)", readme)):
        assert (repository / module.replace(".", "/")).with_suffix(".py").is_file(), module
