"""Prints `docs/map.md`: every file of the project with the first line that it says about itself. Run by `make map`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("eval", "data_gen", "train", "configs", "benchmarks", "docs", "slurm")
TITLE = """# Map

Every file with the first line of its own description. Made by `make map`; a test compares it with the disk."""


def lines(repository: Path) -> Iterator[str]:
    """The map, line by line: a heading a folder, a bullet a file."""
    yield TITLE
    for folder in FOLDERS:
        files = [path for path in sorted((repository / folder).rglob("*")) if path.is_file()]
        inside: dict[Path, list[Path]] = {}
        for path in files:
            if not {"__pycache__", "logs"} & {*path.parts} and path.name not in {"__init__.py", "map.md"}:
                inside.setdefault(path.parent, []).append(path)
        for parent, children in sorted(inside.items()):
            yield f"\n## {parent.relative_to(repository)}/\n"
            for path in children:
                about = first_line(path)
                yield f"- `{path.name}`" + (f": {about}" if about else "")


def first_line(path: Path) -> str:
    """What a file says of itself first: a module's docstring, or a comment of a configuration; "" if nothing."""
    if path.suffix == ".png":
        return ""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    text = re.sub(r"\A((#!|#SBATCH|# shellcheck).*\n)+", "", text)  # what a shell script has above its own words
    comment = re.match(r"# (.+)", text) if path.suffix in {".yaml", ".md", ".sh"} else None
    about = re.match(r"about: (.+)", text)
    return comment[1] if comment else about[1] if about else ""


if __name__ == "__main__":
    print("\n".join(lines(Path(__file__).parent.parent)))
