"""A signal announces the end of a job's time: training stops after a whole step, saves, and resumes in a later job.

USR1 (`sbatch --signal=USR1@120`) asks for a requeue: the process ends with the status `REQUEUE`. TERM ends it with 143,
as a shell reports TERM; it comes with `scancel` and with a preemption, and slurm/launch.sh finds out which. Outside of
steps, in a held-out probe or while weights are read, a signal interrupts at once: what is written there is whole or
resumes from its last row.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from train.trainer_events import Stop, listener

if TYPE_CHECKING:
    from transformers import Trainer

P = ParamSpec("P")

REQUEUE = 200
"""Exit status: the same command, started again, goes on from the checkpoint that was just saved.

Above 128 + any signal: srun ends with the highest status of its tasks, and ends the others when the first one fails.
"""
STATUS = {signal.SIGUSR1: REQUEUE, signal.SIGTERM: 128 + signal.SIGTERM}


class Preempted(KeyboardInterrupt):
    """The time of this process is over. To code that is broken off it is a Ctrl-C."""

    @property
    def number(self) -> int:
        """Of the signal."""
        return int(self.args[0])


class Preemption:
    """The signal that a process has heard, and whether it may break off what is being done."""

    def __init__(self) -> None:
        self.number = 0
        """Of the signal; 0: none yet."""
        self.agreed = False
        """Whether all processes have stopped for it at the same step."""
        self._breaks_off = True

    def hear(self, number: int, frame: object = None) -> None:
        """The handler: TERM outweighs USR1, and what a first signal has begun no second one breaks off."""
        first, self.number = not self.number, max(self.number, int(number))
        if first:
            self._raise_if_due()

    @contextmanager
    def interruptible(self, breaks_off: bool) -> Iterator[None]:
        """Whether a signal raises `Preempted` at once in here, or waits for the end of it."""
        before, self._breaks_off = self._breaks_off, breaks_off
        try:
            self._raise_if_due()
            yield
        finally:
            self._breaks_off = before
        self._raise_if_due()

    def on_step_end(self, state: Any, every: int = 1) -> None:
        """Stop at a multiple of `every` steps or at the last one, if any process has heard a signal.

        All processes call it together, so that all stop at the same step.
        """
        self.number = _highest(self.number)
        if self.number and (state.global_step % every == 0 or state.global_step >= state.max_steps):
            self.agreed = True
            raise Stop(save=True)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the signals in the main thread; elsewhere, and in forks of this process, nothing is handled.

        USR1 goes to every process of a job's step, and would end those that this one starts: it is blocked, which they
        inherit, and a thread waits for it and wakes this one with USR2.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self.number, self.agreed = 0, False
        owner, main, closed = os.getpid(), threading.get_ident(), threading.Event()

        def hear(number: int, frame: object) -> None:
            if os.getpid() == owner:
                self.hear(signal.SIGUSR1 if number == signal.SIGUSR2 else number)
            else:
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)

        def wait() -> None:
            while signal.sigwait([signal.SIGUSR1]) and not closed.is_set():
                signal.pthread_kill(main, signal.SIGUSR2)

        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        handlers = {number: signal.signal(number, hear) for number in (*STATUS, signal.SIGUSR2)}
        waiting = threading.Thread(target=wait, name="preemption", daemon=True)
        waiting.start()
        try:
            yield
        finally:
            closed.set()
            signal.pthread_kill(waiting.ident or 0, signal.SIGUSR1)
            waiting.join()
            for number, handler in handlers.items():
                signal.signal(number, handler)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def _raise_if_due(self) -> None:
        if self.number and self._breaks_off:
            raise Preempted(self.number)


PREEMPTION = Preemption()
"""Of this process: signals have one handler."""


def preemptible(main: Callable[P, int]) -> Callable[P, int]:
    """Let a `main` that trains end as a preempted one does."""

    @functools.wraps(main)
    def heard(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            with PREEMPTION.listening():
                return main(*args, **kwargs)
        except Preempted as preempted:
            if PREEMPTION.agreed:
                _wait_for_all()  # a launcher ends the others when the first one ends
            name = signal.Signals(preempted.number).name
            print(f"stopped by {name}; the same command resumes from the last checkpoint", file=sys.stderr)
            return STATUS[signal.Signals(preempted.number)]

    return heard


def train_until_preempted(trainer: Trainer, checkpoint: Path | None, every: int = 1) -> None:
    """Train to the last step; a signal ends training after the step in progress, with a checkpoint.

    Other callbacks of the trainer must be added before.

    Args:
        every: steps that share data which no checkpoint holds; a signal ends training after a multiple of them.

    Raises:
        Preempted: a signal ended training, in every process at the same step.
    """
    trainer.add_callback(listener(on_step_end=functools.partial(PREEMPTION.on_step_end, every=every)))
    with PREEMPTION.interruptible(False), suppress(Stop):  # of the guard, before the first step
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)


def _wait_for_all() -> None:
    from accelerate import PartialState

    PartialState().wait_for_everyone()


def _highest(number: int) -> int:
    """The highest number that a process has."""
    from accelerate import PartialState

    state = PartialState()
    if state.num_processes == 1:
        return number
    import torch

    told = torch.tensor(number, device=state.device)
    torch.distributed.all_reduce(told, op=torch.distributed.ReduceOp.MAX)
    return int(told)
