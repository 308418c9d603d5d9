"""The judgements of one judge that replies from a model: read strictly, kept, and never asked for again.

A failure is counted and handed on, never kept.
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
        """The judgement given before; asking for it again took no tokens and cost nothing."""
        known = self.cache.get(key)
        if known is None:
            return None
        self._ledger.good("known before")
        return free(Judgement(**known))

    def keep(
        self, key: str, outcome: Reply | Fault, dollars: float | None, *, gated: bool = False
    ) -> Judgement | Failure:
        """Read what came of a question; a judgement is on disk when this returns.

        Args:
            gated: the question is about gated text, which a reply may quote and an error that stops the run may not.
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
        """Stop when many replies hold no verdict and none ever did.

        Raises:
            ConfigError: so it is; it names the failure that is most common.
        """
        self._ledger.stop_if_hopeless(self._judge_id, "verdict", "judge.max_completion_tokens")

    @property
    def measured(self) -> dict[str, Any]:
        """Questions by what came of them ("judged", "known before", or the kind of a failure), replies by model."""
        return self._ledger.measured


def free(judgement: Judgement) -> Judgement:
    """The same judgement for a dialogue that nothing was spent on, so that sums over rows are what was spent."""
    return replace(judgement, tokens=0, cost=None if judgement.cost is None else 0.0)
