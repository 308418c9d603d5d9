"""A judge that rewards: every dialogue decided by a deadline, or failed. It knows no trainer and no reward.

A judge that hangs must not hold up the processes that wait for rewards: their collective operations would run into
their own, much longer timeout and end the run. So the judge works in a thread, and what it has not said in time is a
failure of kind "deadline".
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from queue import Empty, SimpleQueue

from eval.dialogue import Dialogue, Failure, Judgement
from eval.judge import Judge

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
        due = time.monotonic() + self._seconds
        # The episodes of a prompt have the id of their dialogue in common, so the judge gets their places as ids.
        asked = [replace(dialogue, id=str(place)) for place, dialogue in enumerate(dialogues)]
        threading.Thread(target=self._work, args=(asked, said, due), name="reward_judge", daemon=True).start()
        late = Failure("judge", "deadline", f"not judged within {self._seconds:g} s")
        found: list[Judgement | Failure] = [late] * len(dialogues)
        try:
            while (word := said.get(timeout=max(0.0, due - time.monotonic()))) is not None:
                if isinstance(word, BaseException):
                    raise word
                place, decision = word
                found[place] = decision
        except Empty:
            pass
        return [dialogue.with_result(decision) for dialogue, decision in zip(dialogues, found, strict=True)]

    def _work(self, asked: list[Dialogue], said: SimpleQueue[Word], due: float) -> None:
        # A call that was given up on may still hold the judge.
        if not self._working.acquire(timeout=max(0.0, due - time.monotonic())):
            return
        try:
            with closing(self._judge.judge(asked)) as decisions:
                for dialogue, decision in decisions:
                    said.put((int(dialogue.id), decision))
                    if time.monotonic() > due:
                        return
            said.put(None)
        except BaseException as error:  # told to who waits
            said.put(error)
        finally:
            self._working.release()
