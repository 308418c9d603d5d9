"""The checkpoints of a run: which of them are whole, and the last of those. Knows no trainer.

A trainer writes a checkpoint file by file. When it has written all, `seal` adds the list of them with their sizes; a
folder without that list, or whose files do not agree with it, was left half-written by a kill.
"""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

from eval.run_dir import write_atomically, write_through

logger = logging.getLogger(__name__)

SEAL = "complete.json"


def seal(folder: Path) -> None:
    """Mark a checkpoint as whole, once all of it is on the disk: sizes alone cannot tell content from empty blocks."""
    write_through(folder)
    write_atomically(folder / SEAL, json.dumps(_sizes(folder), indent=1) + "\n")


def is_whole(folder: Path) -> bool:
    """Whether every file that was there when it was sealed is there, in its size."""
    try:
        return bool(json.loads((folder / SEAL).read_text(encoding="utf-8")) == _sizes(folder))
    except (OSError, ValueError):
        return False


def last_checkpoint(folder: Path) -> Path | None:
    """The whole checkpoint of the latest step in `folder`; half-written ones are removed, and None if none is left."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    for path in found:
        if not is_whole(path):
            logger.warning("%s is half-written and is removed", path)
            shutil.rmtree(path)
    return next((path for path in reversed(found) if path.exists()), None)


def _sizes(folder: Path) -> dict[str, int]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SEAL)
    return {str(path.relative_to(folder)): path.stat().st_size for path in files}
