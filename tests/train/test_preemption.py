"""Signals as a cluster sends them: handled at once or at the end of a step, by all processes at the same step."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from train.preemption import REQUEUE, Preempted, Preemption, preemptible
from train.trainer_events import Stop

STATE = SimpleNamespace(global_step=1, max_steps=9)


def send(number: int) -> None:
    """To the whole process, as `kill` does."""
    os.kill(os.getpid(), number)


def idle() -> None:
    """Until a signal breaks it off. One that another thread of the tests takes does not interrupt a long sleep."""
    for _ in range(600):
        time.sleep(0.05)


def wait_for(preemption: Preemption) -> None:
    deadline = time.monotonic() + 30
    while not preemption.number:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
def test_a_step_is_made_to_its_end_and_saved(number: int) -> None:
    preemption = Preemption()
    preemption.on_step_end(STATE)
    with preemption.listening(), pytest.raises(Preempted) as preempted, preemption.interruptible(False):
        send(number)
        wait_for(preemption)
        with pytest.raises(Stop) as stop:
            preemption.on_step_end(STATE)
        assert stop.value.save and preemption.agreed
    assert preempted.value.number == number


@pytest.mark.parametrize(("heard_at", "stops_at"), [(4, 6), (5, 6), (6, 6), (7, 8)])
def test_training_stops_where_the_next_step_needs_nothing_of_the_last_ones(heard_at: int, stops_at: int) -> None:
    """Of a run of 8 steps, three at a time use the same episodes."""
    preemption, stopped = Preemption(), None
    with pytest.raises(Preempted), preemption.interruptible(False):
        for step in range(1, 9):
            if step == heard_at:
                preemption.receive(signal.SIGUSR1)
            try:
                preemption.on_step_end(SimpleNamespace(global_step=step, max_steps=8), every=3)
            except Stop:
                stopped = step
                break
    assert stopped == stops_at


def test_a_probe_is_interrupted_and_its_step_saved() -> None:
    preemption = Preemption()
    with preemption.listening(), pytest.raises(Preempted), preemption.interruptible(False):
        with pytest.raises(Preempted), preemption.interruptible(True):
            send(signal.SIGUSR1)
            idle()
        with pytest.raises(Preempted), preemption.interruptible(True):
            pytest.fail("a probe began after the signal")
        with pytest.raises(Stop):
            preemption.on_step_end(STATE)


def test_only_the_first_signal_interrupts_what_is_not_a_step() -> None:
    @preemptible
    def main() -> int:
        try:
            send(signal.SIGUSR1)
            idle()
        except Preempted:
            send(signal.SIGTERM)  # a launcher ends those that are still closing their files
            time.sleep(0.1)
            raise
        return 0

    assert main() == REQUEUE


def test_term_ends_without_a_requeue_and_handlers_are_as_before() -> None:
    @preemptible
    def main() -> int:
        send(signal.SIGTERM)
        idle()
        return 0

    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGUSR1), signal.pthread_sigmask(0, [])
    threads = threading.active_count()
    assert main() == 143
    assert before == (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGUSR1), signal.pthread_sigmask(0, []))
    assert threads == threading.active_count()


def test_term_outweighs_usr1() -> None:
    preemption = Preemption()
    with pytest.raises(Preempted) as preempted, preemption.interruptible(False):
        preemption.receive(signal.SIGTERM)
        preemption.receive(signal.SIGUSR1)
    assert preempted.value.number == signal.SIGTERM


def test_a_preemption_can_be_pickled_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(Preempted(10))).number == 10


CHILDREN = """
    import os, signal, subprocess, sys, time
    from train.preemption import PREEMPTION, preemptible

    @preemptible
    def main():
        forked = os.fork()
        if not forked:
            time.sleep(60)
        program = subprocess.Popen([sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"],
                                   stdout=subprocess.PIPE)
        program.stdout.readline()
        for child in (forked, program.pid):
            os.kill(child, signal.SIGUSR1)
        time.sleep(0.5)
        print(os.waitpid(forked, os.WNOHANG)[0], program.poll(), PREEMPTION.number, flush=True)
        for child in (forked, program.pid):
            os.kill(child, signal.SIGTERM)
        print(os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]), program.wait(), flush=True)
        return 0

    raise SystemExit(main())
"""


def test_what_a_process_starts_outlives_usr1_and_ends_with_term(repository: Path) -> None:
    """Slurm sends USR1 to every process of a step: to the service of a tracker, to workers that load data."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILDREN)], cwd=repository, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.splitlines() == ["0 None 0", "-15 -15"], done.stderr


AGREE = """
    import os, signal, sys
    from types import SimpleNamespace
    from accelerate import PartialState
    from train.preemption import PREEMPTION, Stop

    state, stopped = PartialState(cpu=True), None
    with PREEMPTION.interruptible(False):
        for step in range(1, 5):
            if step == 3 and state.process_index == 1:
                PREEMPTION.receive(signal.SIGUSR1)
            try:
                PREEMPTION.on_step_end(SimpleNamespace(global_step=step, max_steps=4))
            except Stop:
                stopped = step
                break
        # In one write, as the other process writes to the same pipe.
        os.write(1, f"{state.process_index} {stopped} {PREEMPTION.number}\\n".encode())
        os._exit(0)
"""


@pytest.mark.integration
def test_all_processes_stop_at_the_step_at_which_one_receives_a_signal(repository: Path, tmp_path: Path) -> None:
    script = tmp_path / "agree.py"
    script.write_text(textwrap.dedent(AGREE), encoding="utf-8")
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    environment = {**os.environ, "PYTHONPATH": str(repository), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(launch, capture_output=True, text=True, timeout=300, env=environment)
    assert sorted(done.stdout.splitlines()) == ["0 3 10", "1 3 10"], done.stderr
