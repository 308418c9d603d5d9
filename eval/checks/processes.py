"""The number of processes of a training run: as given, one per GPU of the Slurm job, or as the run was started with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from eval.checks.finding import Check, passed


class Processes(NamedTuple):
    """The number of processes that a run is checked for."""

    number: int
    source: str
    nodes: int = 1

    @property
    def launcher(self) -> list[str]:
        """The command that starts the processes (of one node, if there are several), up to the name of the module."""
        if self.number == 1:
            return ["python", "-m"]
        several = ["--nnodes", str(self.nodes), "--node-rank", "RANK", "--master-addr", "HOST"]
        each = ["--nproc-per-node", str(self.number // self.nodes)]
        return ["torchrun", *(several if self.nodes > 1 else []), *each, "-m"]

    @property
    def check(self) -> Check:
        """The check "processes", which reports the number and its source."""
        return Check("processes", lambda: passed(f"{self.number} ({self.source})"))


def planned_processes(given: int | None, run_dir: Path, variables: Mapping[str, str]) -> Processes:
    """The processes of the run in `run_dir`.

    Args:
        given: the number on the command line.
        variables: the environment variables.
    """
    if given is not None:
        return Processes(given, "--processes")
    if "SLURM_JOB_ID" in variables:
        # As slurm/launch.sh starts them.
        nodes = int(variables.get("SLURM_JOB_NUM_NODES") or variables.get("SLURM_NNODES") or 1)
        gpus = int(variables.get("SLURM_GPUS_ON_NODE") or 1)
        job = f"{nodes} nodes x {gpus} GPUs of Slurm job {variables['SLURM_JOB_ID']}"
        return Processes(nodes * gpus, f"{job}; --processes N if the run is started otherwise", nodes)
    before = _of_run(run_dir / "manifest.json")
    if before is not None:
        return Processes(before, f"the number that the run in {run_dir} was started with")
    return Processes(1, "the default; --processes N for a run of several")


def _of_run(manifest: Path) -> int | None:
    """The number in the manifest of a run; None if it cannot be read."""
    try:
        count = json.loads(manifest.read_text(encoding="utf-8"))["protocol"]["processes"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return count if isinstance(count, int) and count > 0 else None
