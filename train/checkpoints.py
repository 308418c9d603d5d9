"""The checkpoints of a run: which ones are complete, and the last of these. Knows no trainer.

A trainer writes a checkpoint file by file. When all files are written, `seal` adds a list of them with their sizes. A
folder without that list, or whose files do not match it, was left incomplete by a kill.
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
    """Mark a checkpoint as complete after flushing it to disk: sizes alone cannot tell content from empty blocks."""
    write_through(folder)
    write_atomically(folder / SEAL, json.dumps(_sizes(folder), indent=1) + "\n")


def is_complete(folder: Path) -> bool:
    """Whether the files are the same, with the same sizes, as when the checkpoint was sealed."""
    try:
        return bool(json.loads((folder / SEAL).read_text(encoding="utf-8")) == _sizes(folder))
    except (OSError, ValueError):
        return False


def last_checkpoint(folder: Path) -> Path | None:
    """The latest complete checkpoint in `folder`, or None. Removes incomplete ones."""
    checkpoints = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    for path in checkpoints:
        if not is_complete(path):
            logger.warning("%s is incomplete and is removed", path)
            shutil.rmtree(path)
    return next((path for path in reversed(checkpoints) if path.exists()), None)


def _sizes(folder: Path) -> dict[str, int]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SEAL)
    return {str(path.relative_to(folder)): path.stat().st_size for path in files}
