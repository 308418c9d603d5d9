"""What a result was made with: code, packages, machine, and the environment variables that matter and are no secret."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PREFIXES = (
    "CUDA_",
    "HF_",
    "MKL_",
    "NCCL_",
    "OMP_",
    "PYTORCH_",
    "SLURM_",
    "TOKENIZERS_",
    "TORCH_",
    "USERTURN_",
    "VLLM_",
)
SECRET = re.compile(r"KEY|TOKEN(?!IZERS_)|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|SIGNATURE|PRIVATE", re.IGNORECASE)
SECRET_VALUE = re.compile(r"://[^/\s]*@|\b(hf|sk|ghp|xox[a-z])[_-]\w{8,}")
SITE_SETTINGS = "slurm/env.sh"
"""A tracked file that every site edits, and that may hold a proxy with its password: not part of the code."""


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables that steer libraries, without any whose name or value looks like a secret."""
    return {
        name: value
        for name, value in sorted(variables.items())
        if name.startswith(PREFIXES) and not SECRET.search(name) and not SECRET_VALUE.search(value)
    }


def git_state(folder: Path) -> dict[str, str | None]:
    """Commit of the work tree around `folder`, with the hash of what differs from it; both None outside a work tree.

    `diff` is the patch of the tracked files, so that the code can be restored. `SITE_SETTINGS` does not count as a
    difference; where it differs from the commit too, the patch says so without its content.
    """
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return {"commit": None, "dirty_sha256": None, "diff": None}
    top = Path((_git(folder, "rev-parse", "--show-toplevel") or ".").strip())
    diff = _git(top, "diff", "HEAD", "--", ".", f":(exclude,glob)**/{SITE_SETTINGS}") or ""
    untracked = (_git(top, "ls-files", "--others", "--exclude-standard", "*.py", "*.yaml") or "").splitlines()
    digest = hashlib.sha256(diff.encode())
    for name in untracked:
        digest.update(name.encode() + (top / name).read_bytes())
    changed = digest.hexdigest() if diff or untracked else None
    if diff and _git(top, "diff", "--name-only", "HEAD", "--", f":(glob)**/{SITE_SETTINGS}"):
        diff = f"{SITE_SETTINGS} differs too, and is left out: it may hold secrets\n{diff}"
    return {"commit": commit.strip(), "dirty_sha256": changed, "diff": diff}


def packages() -> dict[str, str]:
    """Every installed distribution with its version."""
    found = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}
    return dict(sorted((name, version) for name, version in found.items() if name))


def hardware() -> dict[str, Any]:
    """Processor, usable cores, memory in GiB, and the accelerators that an already imported torch sees."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory, 1),
        "accelerators": _accelerators(),
    }


def _processor() -> str:
    try:
        names = re.findall(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def _accelerators() -> list[str]:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, errors="replace", timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
