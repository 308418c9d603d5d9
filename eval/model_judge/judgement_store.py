"""The judgements of one judge that replies from a model: read strictly, kept, and never asked for again.

A failure is counted and handed on, never kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from typing import Any

from eval.client.chat_reply import Fault, Reply
from eval.client.response_cache import ResponseCache
from eval.config import ConfigError
from eval.dialogue import Failure, Judgement
from eval.model_judge.verdict import read

HOPELESS = 20
"""Replies that may hold no verdict before the first one does; then the run is stopped, because each is paid."""


class JudgementStore:
    """Judgements by the key of their question, over a cache that other judges may share."""

    def __init__(self, cache: ResponseCache, judge_id: str, prompt_sha: str) -> None:
        self.cache, self._judge_id, self._prompt_sha = cache, judge_id, prompt_sha
        self.counts: Counter[str] = Counter()
        """Questions by what came of them: "judged", "known before", or the kind of a failure."""
        self.models: Counter[str] = Counter()
        """Replies by the model that the server says has written them."""
        self._unreadable: Counter[str] = Counter()
        self._example = ""

    def recall(self, key: str) -> Judgement | None:
        """The judgement given before; asking for it again took no tokens and cost nothing."""
        known = self.cache.get(key)
        if known is None:
            return None
        self.counts["known before"] += 1
        return free(Judgement(**known))

    def keep(self, key: str, outcome: Reply | Fault, dollars: float | None) -> Judgement | Failure:
        """Read what came of a question; a judgement is on disk when this returns."""
        if isinstance(outcome, Fault):
            return self._failed(Failure("judge", outcome.kind, outcome.detail))
        self.models[outcome.model or "unnamed"] += 1
        verdict = read(outcome)
        if isinstance(verdict, Failure):
            self._unreadable[verdict.kind] += 1
            self._example = verdict.detail
            return self._failed(verdict)
        judgement = Judgement(
            verdict.label,
            verdict.genuine,
            judge=self._judge_id,
            reply=outcome.text or "",
            prompt_sha=self._prompt_sha,
            tokens=outcome.usage.input + outcome.usage.output if outcome.usage else None,
            cost=dollars,
        )
        self.cache.put(key, asdict(judgement))
        self.counts["judged"] += 1
        return judgement

    def stop_if_hopeless(self) -> None:
        """Stop when many replies hold no verdict and none ever did.

        Raises:
            ConfigError: so it is; it names the failure that is most common.
        """
        replies = self._unreadable.total()
        if replies >= HOPELESS and not self.counts["judged"] + self.counts["known before"]:
            kind, times = self._unreadable.most_common(1)[0]
            raise ConfigError(
                f"the first {replies} replies of {self._judge_id} hold no verdict, {times} of them for {kind} "
                f"(the last: {self._example}); choose a model and a server that keep a JSON schema, or, if replies are "
                "truncated, raise judge.max_completion_tokens"
            )

    def _failed(self, failure: Failure) -> Failure:
        self.counts[failure.kind] += 1
        return failure

    @property
    def measured(self) -> dict[str, Any]:
        """The counts, for a manifest."""
        return {"questions": dict(self.counts), "models": dict(self.models)}


def free(judgement: Judgement) -> Judgement:
    """The same judgement for a dialogue that nothing was spent on, so that sums over rows are what was spent."""
    return replace(judgement, tokens=0, cost=None if judgement.cost is None else 0.0)
