"""Whether the run folder can be used: it is new, or holds an earlier part of the same run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from eval.checks.finding import Check, Finding, passed, warned
from eval.run_dir import refuse_other


def folder_check(
    folder: Path, decided: Callable[[], tuple[dict[str, Any], dict[str, Any]]], needs: tuple[str, ...]
) -> Check:
    """The check "run folder"; `decided` returns protocol and selection of the run."""

    def look() -> Finding:
        if refuse_other(folder, *decided()) is None:
            return passed(f"{folder} is new")
        if (folder / "summary.json").is_file():
            return warned(
                f"{folder} holds this run, finished", "it would only be reported again: choose another run folder"
            )
        return passed(f"{folder} holds an unfinished part of this run, which resumes")

    return Check("run folder", look, needs)
