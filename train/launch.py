"""Starts the processes of one node with torchrun, and exits with a status that tells whether to restart the job.

    python -m train.launch --nnodes 2 --node-rank 0 --nproc-per-node 8 --master-addr HOST -m train.sft --config FILE

The options are torchrun's. torchrun itself exits with 1 whatever status its processes have, and is killed by USR1; here
the status is that of the first process that failed, and USR1 and TERM are left to the processes, which save a
checkpoint first (`train/preemption.py`).
"""

from __future__ import annotations

import contextlib
import signal
import sys

from train.preemption import REQUEUE


def main(argv: list[str] | None = None) -> int:
    """Run the processes until they end; returns 0, or the status of the job."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])  # stays pending for processes that are still starting

    signal.signal(signal.SIGTERM, _pass_on)

    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main as torchrun

    try:
        torchrun(["--signals-to-handle", "SIGINT,SIGHUP,SIGQUIT", *(sys.argv[1:] if argv is None else argv)])
    except SignalException as stopped:
        return 128 + int(stopped.sigval)
    except ChildFailedError as failed:
        _, first = failed.get_first_failure()
        statuses = [failure.exitcode for failure in failed.failures.values()]
        if REQUEUE in statuses:
            return REQUEUE
        print(f"process {first.local_rank} of this node exited with status {first.exitcode}", file=sys.stderr)
        return first.exitcode if first.exitcode > 0 else 128 - first.exitcode
    return 0


def _pass_on(number: int, frame: object) -> None:
    """Send TERM to the processes and wait until they end; torchrun would kill them after 30 s, within a long step."""
    import psutil

    processes = psutil.Process().children()
    if not processes:
        raise SystemExit(128 + number)
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)


if __name__ == "__main__":
    raise SystemExit(main())
