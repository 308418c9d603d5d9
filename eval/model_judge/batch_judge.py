"""Judging through the Batch API: questions are collected first; results arrive when a batch has ended."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable

from eval.client.batch_client import BatchClient
from eval.dialogue import Dialogue, Failure, Judgement
from eval.gated_text import is_gated
from eval.judge import unjudgeable
from eval.model_judge.judge_prompt import JudgePrompt
from eval.model_judge.judgement_store import JudgementStore, free


class BatchJudge:
    """Asks each distinct question once, and resumes with the batches of a run that was stopped."""

    def __init__(
        self, prompt: JudgePrompt, client: BatchClient, store: JudgementStore, check: Callable[[], None]
    ) -> None:
        """`check` is called before questions are sent, and raises if they must not be."""
        self._prompt, self._client, self._store, self._check = prompt, client, store, check

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Judgement | Failure], None, None]:
        """Each dialogue with its result. Holds in memory the dialogues that need a batch."""
        asked: dict[str, list[Dialogue]] = {}
        bodies = {}
        for dialogue in dialogues:
            problem = unjudgeable(dialogue.messages)
            if problem:
                yield dialogue, problem
                continue
            question = self._prompt.question(dialogue.messages)
            known = self._store.recall(question.key)
            if known:
                yield dialogue, known
            else:
                asked.setdefault(question.key, []).append(dialogue)
                bodies[question.key] = question.body
        if not bodies:
            return
        self._check()
        for key, outcome, dollars in self._client.complete(bodies, self._store.cache, self._prompt.judge_id):
            about = asked.pop(key, [])
            gated = not about or any(map(is_gated, about))  # of an earlier run: its dialogue is unknown
            result = self._store.keep(key, outcome, dollars, gated=gated)
            for dialogue in about:
                yield dialogue, result
                result = free(result) if isinstance(result, Judgement) else result
        self._store.stop_if_hopeless()
