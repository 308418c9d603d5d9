"""Whether the cache of a paid judge or teacher can be written, and which machines share it."""

from __future__ import annotations

import inspect
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from eval.checks.disk import nearest
from eval.checks.finding import Check, Finding, failed, passed, unchecked, warned
from eval.client.response_cache import expanded

MOUNTS = Path("/proc/self/mounts")
NETWORK = {
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "glusterfs",
    "gpfs",
    "lustre",
    "nfs",
    "nfs4",
    "panfs",
    "smb3",
    "wekafs",
}
TEMPORARY = {"overlay", "ramfs", "tmpfs"}
"""File systems in memory or of a container."""
TODO = "choose a folder that all nodes see and that outlives jobs: export USERTURN_CACHE=DIR"


def cache_checks(paid: Iterable[tuple[str, type, Mapping[str, Any]]]) -> list[Check]:
    """A check "cache of NAME" for each (name, class, options) of a judge or teacher with a cache; one per cache."""
    checks: dict[object, Check] = {}
    for name, made, options in paid:
        option = inspect.signature(made).parameters.get("cache")
        if option is not None:
            cache = options.get("cache", option.default)
            checks.setdefault(cache, Check(f"cache of {name}", _look(cache)))
    return list(checks.values())


def file_system(path: Path) -> str | None:
    """The type of the file system that `path` is on, such as "nfs4"; None where mounts are not listed."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    found, longest = None, -1
    resolved = path.resolve()
    for _, point, kind, *_ in filter(None, map(str.split, lines)):
        mounted = Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), point))
        if resolved.is_relative_to(mounted) and len(mounted.parts) >= longest:  # a later mount covers an earlier one
            found, longest = kind, len(mounted.parts)
    return found


def _look(cache: str | Path | None) -> Callable[[], Finding]:
    def look() -> Finding:
        if cache is None:
            return warned(
                "paid replies are kept in memory alone; the next run pays again", "leave the option cache out"
            )
        folder = expanded(Path(cache))
        place = nearest(folder)
        if not place.is_dir():
            return failed(f"the cache {place} is a file", "name a folder")
        if not os.access(place, os.W_OK | os.X_OK):
            return failed(f"{place} can't be written, so {folder} can't cache paid replies", TODO)
        return _shared(folder, file_system(place))

    return look


def _shared(folder: Path, kind: str | None) -> Finding:
    """The finding on a folder whose file system has the type `kind`."""
    told = f"paid replies are cached in {folder}"
    if kind is None:
        return unchecked(f"{told}; the type of its file system is unknown")
    if kind in NETWORK or kind.startswith("fuse."):
        return passed(f"{told}, on {kind}, a network file system: all machines that mount it share them")
    if kind in TEMPORARY:
        return warned(f"{told}, on {kind}: lost when this machine or container stops", TODO)
    told += f", on {kind}, a disk of this machine"
    if "SLURM_JOB_ID" in os.environ or shutil.which("sbatch"):
        return warned(f"{told}: jobs on other nodes pay again", TODO)
    return passed(f"{told}: all runs here share them")
