"""Start the processes of one node: torchrun, with a status that says whether the job is to be started again.

    python -m train.launch --nnodes 2 --node-rank 0 --nproc-per-node 8 --master-addr HOST -m train.sft --config FILE

The options are torchrun's. torchrun itself ends with 1 whatever its processes end with, and USR1 ends it; here the
status is that of the first process that failed, and USR1 is for the processes alone (`train/preemption.py`).
"""

from __future__ import annotations

import signal
import sys

from train.preemption import REQUEUE


def main(argv: list[str] | None = None) -> int:
    """Run the processes to their end; returns 0, or the status of the job."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])  # so that it waits for those that are just starting

    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main as torchrun

    try:
        torchrun(argv)
    except SignalException as stopped:
        return 128 + int(stopped.sigval)
    except ChildFailedError as failed:
        _, first = failed.get_first_failure()
        statuses = [failure.exitcode for failure in failed.failures.values()]
        if REQUEUE in statuses:
            return REQUEUE
        print(f"process {first.local_rank} of this node ended with status {first.exitcode}", file=sys.stderr)
        return first.exitcode if first.exitcode > 0 else 128 - first.exitcode
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
