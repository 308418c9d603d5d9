"""Whether the run folder can be written, and whether the disk has room for what the run leaves there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from eval.checks.finding import Check, Finding, failed, passed, warned
from eval.checks.model_files import gigabytes

LITTLE = 10**9
"""Bytes reserved for rows, logs and tables."""


def disk_check(folder: Path, needed: Callable[[], tuple[int, str]], needs: tuple[str, ...] = ()) -> Check:
    """The check "disk": `needed` says how many bytes the run leaves in `folder`, and what they are."""

    def look() -> Finding:
        place = nearest(folder)
        if not os.access(place, os.W_OK | os.X_OK):
            return failed(f"{place} can't be written", "choose another run folder, or ask for write permission there")
        size, what = needed()
        size += LITTLE
        free = shutil.disk_usage(place).free
        told = f"{gigabytes(free)} free at {place}, {gigabytes(size)} needed at most ({what})"
        if free < size:
            return failed(told, "choose a run folder on a larger disk, or keep fewer checkpoints")
        if free < 2 * size:
            return warned(told, "make room: other runs may take it meanwhile")
        return passed(told)

    return Check("disk", look, needs)


def nearest(folder: Path) -> Path:
    """`folder`, or its nearest parent that exists."""
    path = folder.expanduser().absolute()
    return next(place for place in (path, *path.parents) if place.exists())
