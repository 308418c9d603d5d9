"""The README matches the repository: its tree is complete, and its commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PACKAGES = ("eval", "data_gen", "train")
WORD = re.compile(r"[\w./-]+")


def tree_of(readme: str) -> set[str]:
    """The paths in the README's tree: two spaces per level; folder names end in a slash."""
    block = re.search(r"## The tree\n+```\n(.*?)```", readme, re.DOTALL)
    assert block, "the README has no tree"
    named: set[str] = set()
    parent = ""
    for line in block[1].splitlines():
        inside = line.startswith("  ")
        first = line.split()[0]
        parent = parent if inside else first
        words = [word for word in WORD.findall(line) if word.endswith("/") or re.search(r"\.(py|md|yaml)$", word)]
        named |= {parent + word if inside or word != first else word for word in words}
    return named


def test_every_path_in_the_tree_exists(repository: Path) -> None:
    missing = [
        path for path in tree_of((repository / "README.md").read_text("utf-8")) if not (repository / path).exists()
    ]
    assert not missing


def test_every_folder_and_every_command_is_in_the_readme(repository: Path) -> None:
    readme = (repository / "README.md").read_text(encoding="utf-8")
    named = tree_of(readme)
    folders = {path.parent for package in PACKAGES for path in (repository / package).rglob("*.py")}
    inside = {f"{folder.relative_to(repository)}/" for folder in folders}
    assert inside <= named, inside - named
    commands = [
        path
        for package in PACKAGES
        for path in (repository / package).glob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    ]
    assert commands
    unnamed = [
        path.name for path in commands if path.name not in readme and f"{path.parent.name}.{path.stem}" not in readme
    ]
    assert not unnamed


def test_the_map_is_up_to_date(repository: Path) -> None:
    """If this fails, run `make map`."""
    made = subprocess.run([sys.executable, "docs/map.py"], cwd=repository, capture_output=True, text=True, check=True)
    assert made.stdout == (repository / "docs" / "map.md").read_text(encoding="utf-8")


def test_the_readme_is_short_and_its_commands_exist(repository: Path) -> None:
    readme = (repository / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 150
    targets = set(re.findall(r"^([\w-]+):", (repository / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z][\w-]*)`", readme))
    assert named and named <= targets
    for module in set(re.findall(r"python -m ([\w.]+)", readme)):
        assert (repository / module.replace(".", "/")).with_suffix(".py").is_file(), module
