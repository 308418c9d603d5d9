"""The README is the map: its tree is the tree on disk, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

MAPPED = ("eval", "data_gen", "train", "configs", "benchmarks", "slurm", "docs")
"""Folders whose files the map must name, tests and package markers aside."""


FILE = re.compile(r"[\w.-]+\.(?:py|yaml|jsonl?|md|html|css|js)")


def mapped_files(readme: str) -> set[str]:
    """Paths of the tree in the README: two spaces a level, a folder's name ends in a slash, its files may follow it."""
    block = re.search(r"## The tree\n+```\n(.*?)```", readme, re.DOTALL)
    assert block, "the README has no tree"
    files: set[str] = set()
    folders: list[str] = []
    for line in block[1].splitlines()[1:]:
        depth, words = (len(line) - len(line.lstrip())) // 2, line.split()
        if words[0].endswith("/"):
            folders = [*folders[:depth], words[0]]
        elif depth <= len(folders):
            folders = folders[:depth]
        files |= {"".join([*folders, word]) for word in words if FILE.fullmatch(word)}
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
    named = set(re.findall(r"`make ([a-z][\w-]*)`", readme))
    assert named and named <= targets
    for module in set(re.findall(r"python -m ([\w.]+)", readme)):
        assert (repository / module.replace(".", "/")).with_suffix(".py").is_file(), module
