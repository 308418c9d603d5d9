"""The judgements of one judging model: replies are parsed strictly, judgements are cached and not requested again.

Failures are counted and returned, never cached.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from eval.client.chat_reply import Fault, Reply
from eval.client.reply_ledger import ReplyLedger
from eval.client.response_cache import ResponseCache
from eval.dialogue import Failure, Judgement
from eval.gated_text import withheld
from eval.model_judge.verdict import read


class JudgementStore:
    """Judgements by the key of their question, over a cache that other judges may share."""

    def __init__(self, cache: ResponseCache, judge_id: str, prompt_sha: str) -> None:
        self.cache, self._judge_id, self._prompt_sha = cache, judge_id, prompt_sha
        self._ledger = ReplyLedger()

    def recall(self, key: str) -> Judgement | None:
        """The cached judgement, with no tokens and no cost; None if there is none."""
        known = self.cache.get(key)
        if known is None:
            return None
        self._ledger.good("known before")
        return free(Judgement(**known))

    def keep(
        self, key: str, outcome: Reply | Fault, dollars: float | None, *, gated: bool = False
    ) -> Judgement | Failure:
        """Parse the outcome of a question; once this returns, a judgement is in the cache.

        Args:
            gated: whether the question has gated text, which an error that stops the run must not quote.
        """
        if isinstance(outcome, Fault):
            self._ledger.failed(outcome.kind)
            return Failure("judge", outcome.kind, outcome.detail)
        self._ledger.replied(outcome)
        verdict = read(outcome)
        if isinstance(verdict, Failure):
            self._ledger.unreadable(verdict.kind, withheld(verdict.detail) if gated else verdict.detail)
            return verdict
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
        self._ledger.good("judged")
        return judgement

    def stop_if_hopeless(self) -> None:
        """Stop the run if many replies contain no verdict and none did.

        Raises:
            ConfigError: they do; the message names the most common failure.
        """
        self._ledger.stop_if_hopeless(self._judge_id, "verdict", "judge.max_completion_tokens")

    @property
    def measured(self) -> dict[str, Any]:
        """Questions by outcome ("judged", "known before", or the kind of a failure), replies by model."""
        return self._ledger.measured


def free(judgement: Judgement) -> Judgement:
    """The judgement for a dialogue that nothing was spent on, so that sums over rows are what was spent."""
    return replace(judgement, tokens=0, cost=None if judgement.cost is None else 0.0)
