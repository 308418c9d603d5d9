"""Preemption signals: finish the current step, save a checkpoint, exit with a status that asks for a restart.

USR1 (`sbatch --signal=USR1@120`) asks for a requeue: the process exits with the status `REQUEUE`. TERM ends it with
143, as a shell reports TERM; it comes with `scancel` and with a preemption, and slurm/launch.sh finds out which.
Outside of steps, in a held-out probe or while weights are loaded, a signal interrupts at once: what is written there is
complete, or resumes from its last row.
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

from train.main_process import wait_for_all
from train.trainer_events import Stop, listener

if TYPE_CHECKING:
    from transformers import Trainer

P = ParamSpec("P")

REQUEUE = 200
"""Exit status: the same command, started again, resumes from the checkpoint that was just saved.

It is above 128 + any signal number, because srun exits with the highest status of its tasks, and ends the others when
the first one fails.
"""
STATUS = {signal.SIGUSR1: REQUEUE, signal.SIGTERM: 128 + signal.SIGTERM}


class Preempted(KeyboardInterrupt):
    """A signal ended this process. Interrupted code sees it as Ctrl-C."""

    @property
    def number(self) -> int:
        """The signal number."""
        return int(self.args[0])


class Preemption:
    """The signal that this process has received, and whether it interrupts the code that is running."""

    def __init__(self) -> None:
        self.number = 0
        """The signal number; 0: none yet."""
        self.agreed = False
        """Whether all processes have stopped for the signal at the same step."""
        self._interrupts = True

    def receive(self, number: int, frame: object = None) -> None:
        """Handle a signal: TERM takes precedence over USR1, and only the first signal interrupts."""
        first, self.number = not self.number, max(self.number, int(number))
        if first:
            self._raise_if_due()

    @contextmanager
    def interruptible(self, interrupts: bool) -> Iterator[None]:
        """Whether a signal raises `Preempted` immediately within this context, or only at its end."""
        before, self._interrupts = self._interrupts, interrupts
        try:
            self._raise_if_due()
            yield
        finally:
            self._interrupts = before
        self._raise_if_due()

    def on_step_end(self, state: Any, every: int = 1) -> None:
        """Stop at a multiple of `every` steps, or at the last step, if any process has received a signal.

        Every process must call this together, so that all stop at the same step.
        """
        self.number = _highest(self.number)
        if self.number and (state.global_step % every == 0 or state.global_step >= state.max_steps):
            self.agreed = True
            raise Stop(save=True)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle signals within this context; in other threads than the main one, and in forks, none is handled.

        USR1 goes to every process of a job step, and would kill the processes that this one starts. So it is blocked,
        which they inherit, and a thread waits for it and wakes the main thread with USR2.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self.number, self.agreed = 0, False
        owner, main, closed = os.getpid(), threading.get_ident(), threading.Event()

        def handle(number: int, frame: object) -> None:
            if os.getpid() == owner:
                self.receive(signal.SIGUSR1 if number == signal.SIGUSR2 else number)
            else:
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)

        def wait() -> None:
            while signal.sigwait([signal.SIGUSR1]) and not closed.is_set():
                signal.pthread_kill(main, signal.SIGUSR2)

        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        handlers = {number: signal.signal(number, handle) for number in (*STATUS, signal.SIGUSR2)}
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
        if self.number and self._interrupts:
            raise Preempted(self.number)


PREEMPTION = Preemption()
"""The one instance of this process: a signal has only one handler."""


def preemptible(main: Callable[P, int]) -> Callable[P, int]:
    """Decorate a training command's `main`: handle signals, and exit with the status of the signal if preempted."""

    @functools.wraps(main)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            with PREEMPTION.listening():
                return main(*args, **kwargs)
        except Preempted as preempted:
            if PREEMPTION.agreed:
                wait_for_all()  # a launcher kills the other processes when the first one exits
            name = signal.Signals(preempted.number).name
            print(f"stopped by {name}; the same command resumes from the last checkpoint", file=sys.stderr)
            return STATUS[signal.Signals(preempted.number)]

    return wrapped


def train_until_preempted(trainer: Trainer, checkpoint: Path | None, every: int = 1) -> None:
    """Train to the last step; a signal ends training after the step in progress, with a checkpoint.

    Other callbacks must be added to the trainer before.

    Args:
        every: steps that share data which no checkpoint holds; a signal ends training after a multiple of them.

    Raises:
        Preempted: a signal ended training, in every process at the same step.
    """
    trainer.add_callback(listener(on_step_end=functools.partial(PREEMPTION.on_step_end, every=every)))
    with PREEMPTION.interruptible(False), suppress(Stop):  # raised by the guard before the first step
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)


def _highest(number: int) -> int:
    """The highest `number` of all processes."""
    from accelerate import PartialState

    state = PartialState()
    if state.num_processes == 1:
        return number
    import torch

    highest = torch.tensor(number, device=state.device)
    torch.distributed.all_reduce(highest, op=torch.distributed.ReduceOp.MAX)
    return int(highest)
