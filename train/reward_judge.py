"""A judge that rewards: every dialogue decided by a deadline, or failed. It knows no trainer and no reward.

A judge that hangs must not hold up the processes that wait for rewards: their collective operations would run into
their own, much longer timeout and end the run. So the judge works in a thread, and what it has not said in time is a
failure of kind "deadline". A signal that announces the end of the job shortens the wait: the step must still end, and
its checkpoint be saved.
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
"""Seconds to wait for verdicts after a signal, or after the step asks for them if the signal came before."""
POLL_S = 0.25
"""Seconds between two looks for a signal."""
Word = tuple[int, Judgement | Failure] | BaseException | None
"""What the thread says: a decision on the dialogue of that place, an error, or None at the end."""


class RewardJudge:
    """Decides on the dialogues of a step within `seconds`. One call at a time."""

    def __init__(self, judge: Judge, seconds: float) -> None:
        self._judge, self._seconds = judge, seconds
        self._working = threading.Lock()
        self.id = judge.id

    def decide(self, dialogues: Sequence[Dialogue]) -> list[Dialogue]:
        """Each dialogue with its judgement or its failure, in order.

        Raises:
            ConfigError: whatever the judge raises, such as a refused key.
        """
        said: SimpleQueue[Word] = SimpleQueue()
        deadline = _Deadline(self._seconds)
        # The episodes of a prompt have the id of their dialogue in common, so the judge gets their places as ids.
        asked = [replace(dialogue, id=str(place)) for place, dialogue in enumerate(dialogues)]
        threading.Thread(target=self._work, args=(asked, said, deadline), name="reward_judge", daemon=True).start()
        found = dict(_decisions(said, deadline))
        late = Failure("judge", "deadline", deadline.told)
        return [dialogue.with_result(found.get(place, late)) for place, dialogue in enumerate(dialogues)]

    def _work(self, asked: list[Dialogue], said: SimpleQueue[Word], deadline: _Deadline) -> None:
        # A call that was given up on may still hold the judge.
        if not self._working.acquire(timeout=deadline.remaining()):
            return
        try:
            with closing(self._judge.judge(asked)) as decisions:
                for dialogue, decision in decisions:
                    said.put((int(dialogue.id), decision))
                    if not deadline.remaining():
                        return
            said.put(None)
        except BaseException as error:  # told to who waits
            said.put(error)
        finally:
            self._working.release()


class _Deadline:
    """A time to wait for verdicts, which a signal brings forward."""

    def __init__(self, seconds: float) -> None:
        self._due = time.monotonic() + seconds
        self._heard = False
        self.told = f"not judged within {seconds:g} s"

    def remaining(self) -> float:
        """Seconds, 0 at the end."""
        now = time.monotonic()
        if PREEMPTION.number and not self._heard:
            self._heard = True
            if now + AFTER_SIGNAL_S < self._due:
                self._due = now + AFTER_SIGNAL_S
                self.told = f"not judged within {AFTER_SIGNAL_S:g} s of a signal that ends the job"
        return max(0.0, self._due - now)


def _decisions(said: SimpleQueue[Word], deadline: _Deadline) -> Iterator[tuple[int, Judgement | Failure]]:
    """What the thread decides until it ends or the deadline passes, each with the place of its dialogue."""
    while True:
        remaining = deadline.remaining()
        try:
            word = said.get(timeout=min(POLL_S, remaining))
        except Empty:
            if not remaining:
                return
            continue
        if word is None:
            return
        if isinstance(word, BaseException):
            raise word
        yield word
