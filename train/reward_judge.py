"""Runs the reward judge with a deadline: every dialogue gets a verdict in time, or a failure.

A judge that hangs must not hold up the processes that wait for rewards: their collective operations would run into
their own, much longer timeout and end the run. So the judge works in a thread, and a dialogue without a verdict at the
deadline is a failure of kind "deadline". A signal that announces the end of the job shortens the wait, because the step
must still end and its checkpoint be saved. Knows no trainer and no reward.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from queue import Empty, SimpleQueue

from eval.dialogue import Dialogue, Failure, Judgement
from eval.judge import Judge
from train.preemption import PREEMPTION

AFTER_SIGNAL_S = 10.0
"""Seconds to wait for verdicts after a signal, or after they are requested if the signal came before."""
POLL_S = 0.25
"""Seconds between two checks for a signal."""
Result = tuple[int, Judgement | Failure] | BaseException | None
"""What the thread puts in the queue: (index of the dialogue, decision), an exception, or None at the end."""


class RewardJudge:
    """Judges the dialogues of a step within `seconds`. One call at a time."""

    def __init__(self, judge: Judge, seconds: float) -> None:
        self._judge, self._seconds = judge, seconds
        self._working = threading.Lock()
        self.id = judge.id

    def decide(self, dialogues: Sequence[Dialogue]) -> list[Dialogue]:
        """Each dialogue with its judgement or its failure, in order.

        Raises:
            ConfigError: raised by the judge, for example for a rejected API key.
        """
        results: SimpleQueue[Result] = SimpleQueue()
        deadline = _Deadline(self._seconds)
        # The episodes of a prompt share the id of their dialogue, so the judge gets their indices as ids.
        indexed = [replace(dialogue, id=str(index)) for index, dialogue in enumerate(dialogues)]
        threading.Thread(target=self._work, args=(indexed, results, deadline), name="reward_judge", daemon=True).start()
        decisions = dict(_decisions(results, deadline))
        late = Failure("judge", "deadline", deadline.reason)
        return [dialogue.with_result(decisions.get(index, late)) for index, dialogue in enumerate(dialogues)]

    def _work(self, dialogues: list[Dialogue], results: SimpleQueue[Result], deadline: _Deadline) -> None:
        # A call that missed its deadline may still be using the judge.
        if not self._working.acquire(timeout=deadline.remaining()):
            return
        try:
            with closing(self._judge.judge(dialogues)) as decisions:
                for dialogue, decision in decisions:
                    results.put((int(dialogue.id), decision))
                    if not deadline.remaining():
                        return
            results.put(None)
        except BaseException as error:  # re-raised by the waiting thread
            results.put(error)
        finally:
            self._working.release()


class _Deadline:
    """The time until which verdicts are awaited; a signal brings it forward."""

    def __init__(self, seconds: float) -> None:
        self._due = time.monotonic() + seconds
        self._shortened = False
        self.reason = f"not judged within {seconds:g} s"

    def remaining(self) -> float:
        """Seconds left; 0 after the deadline."""
        now = time.monotonic()
        if PREEMPTION.number and not self._shortened:
            self._shortened = True
            if now + AFTER_SIGNAL_S < self._due:
                self._due = now + AFTER_SIGNAL_S
                self.reason = f"not judged within {AFTER_SIGNAL_S:g} s of a signal that ends the job"
        return max(0.0, self._due - now)


def _decisions(results: SimpleQueue[Result], deadline: _Deadline) -> Iterator[tuple[int, Judgement | Failure]]:
    """The thread's decisions with the indices of their dialogues, until it ends or the deadline passes."""
    while True:
        remaining = deadline.remaining()
        try:
            result = results.get(timeout=min(POLL_S, remaining))
        except Empty:
            if not remaining:
                return
            continue
        if result is None:
            return
        if isinstance(result, BaseException):
            raise result
        yield result
