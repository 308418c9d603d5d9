"""A language model as judge, on OpenAI's API or any chat-completions server with JSON-schema output.

Its instructions are in `openai.yaml` next to this file. Judgements are yielded as they arrive and cached; failures are
not cached. Before the first new question, it checks that the model still decides the items of `openai_canary.yaml` as
it did at first.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from eval.client.api_client import Patience
from eval.client.batch_client import BatchClient
from eval.client.budget import Budget, price_of
from eval.client.chat_client import ChatClient
from eval.client.endpoint import OPENAI, ReasoningEffort, endpoint_for
from eval.client.response_cache import ResponseCache
from eval.client.whole_reply import cost_bound
from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.model_judge.batch_judge import BatchJudge
from eval.model_judge.canary import Canary
from eval.model_judge.judge_prompt import JudgePrompt
from eval.model_judge.judgement_store import JudgementStore
from eval.model_judge.online_judge import OnlineJudge

PROMPT = Path(__file__).with_suffix(".yaml")
CANARY = PROMPT.with_stem(f"{PROMPT.stem}_canary")
LONGEST = 16_000
"""Size in bytes of the conversation that a cost bound assumes: an answer of 2,048 tokens has about half as many."""
LONG = (Message("user", ""), Message("assistant", "x" * LONGEST), Message("user", ""))
CACHE = Path("$USERTURN_CACHE/judgements")


class Judge:
    """Asks a model about each user turn, with concurrent requests, and accepts only replies that match the schema.

    Args:
        model: at OpenAI a dated id, because an alias may point to another model later.
        base_url: the server's URL, without `/chat/completions`. Unless it is OpenAI's, it is part of the judge's id:
            a model on another server is another judge, with its own judgements.
        api_key_variable: name of the environment variable that holds the key; None for a server without keys.
        mode: "batch" sends files that are answered within a day, at half the price.
        reasoning_effort: None leaves it to the server.
        max_completion_tokens: including reasoning.
        budget_usd: US dollars that this judge may spend in a run; the remaining rows then fail with kind "budget".
            Spending of earlier processes of the run counts (`spent.jsonl` in its folder), except for requests that were
            in flight when one was killed. Without a run folder (`eval.agreement`) the limit is per process.
        cache: folder of judgements, shared by all runs, also across machines that mount it. By default it is in the
            folder that USERTURN_CACHE names, else in `~/.cache/userturn`. None caches in memory only.
        canary: judge the items of `openai_canary.yaml` before the first question, and stop if more verdicts differ from
            this judge's first ones than chance explains. Their cost counts in the budget, at the price of online
            requests. Without a cache there is nothing to compare with, and they are not judged.
        concurrency: largest number of concurrent requests; reduced while the server rejects some.
        attempt_s: seconds for one attempt.
        request_s: seconds for one dialogue with all its attempts.
        call_s: seconds for one call of `judge`; what is not judged by then fails with kind "deadline".
        backoff_s: largest delay in seconds before the first retry; doubled for each further one.
        poll_s: seconds between two requests for the status of a batch.
    """

    def __init__(
        self,
        *,
        model: str = "gpt-5.4-mini-2026-03-17",
        base_url: str = OPENAI,
        api_key_variable: str | None = "OPENAI_API_KEY",
        mode: Literal["online", "batch"] = "online",
        reasoning_effort: ReasoningEffort | None = None,
        max_completion_tokens: PositiveInt = 1000,
        budget_usd: NonNegativeFloat | None = None,
        cache: Path | None = CACHE,
        canary: bool = True,
        concurrency: PositiveInt = 64,
        attempt_s: PositiveFloat = 60.0,
        request_s: PositiveFloat = 300.0,
        call_s: PositiveFloat | None = None,
        backoff_s: NonNegativeFloat = 0.5,
        poll_s: PositiveFloat = 30.0,
    ) -> None:
        """Check everything that can be checked without a request.

        Raises:
            ConfigError: the key is missing, the URL is not valid, the model has no date, or there is a budget but no
                price to apply it with.
        """
        endpoint = endpoint_for(model, base_url, api_key_variable, whose="judge")
        key = endpoint.api_key
        request: dict[str, Any] = {"model": model, "max_completion_tokens": max_completion_tokens}
        request |= {"reasoning_effort": reasoning_effort} if reasoning_effort else {}
        prompt = JudgePrompt(PROMPT, request, endpoint.server)
        self.id = prompt.judge_id
        self.budget = Budget(price_of(model, batch=mode == "batch"), budget_usd)
        self.cost_bound = cost_bound(self.budget, prompt.question(LONG).body)
        self.cache = ResponseCache(cache)
        self._store = JudgementStore(self.cache, self.id, prompt.sha)
        self._canary = Canary(CANARY, prompt, self.cache) if canary and cache else None
        self._online_price = price_of(model)
        patience = Patience(attempt_s, request_s, backoff_s)
        self._client = ChatClient(base_url, key, concurrency=concurrency, patience=patience, budget=self.budget)
        self._judge: OnlineJudge | BatchJudge
        if mode == "online":
            self._judge = OnlineJudge(prompt, self._client, self._store, call_s=call_s, canary=self._canary)
        else:
            batches = BatchClient(base_url, key, self.budget, poll_s=poll_s)
            self._judge = BatchJudge(prompt, batches, self._store, self._check_online)

    @property
    def measured(self) -> dict[str, Any]:
        """Usage since it was made, over all calls: questions, attempts, tokens, dollars."""
        canary = {"canary": dict(self._canary.measured)} if self._canary and self._canary.measured else {}
        return {**self._store.measured, "attempts": dict(self._client.attempts), **canary, **self.budget.totals}

    def judge(self, dialogues: Iterable[Dialogue]) -> Generator[tuple[Dialogue, Judgement | Failure], None, None]:
        """Each dialogue with its judgement or failure. One call at a time.

        Raises:
            ConfigError: the account is out of quota, the key is rejected, no request of the run can succeed, or the
                model decides differently than it did under the same id.
        """
        return self._judge.judge(dialogues)

    def _check_online(self) -> None:
        """The canary's check before batches are sent, at the price of online requests."""
        if self._canary is None or self._canary.passed:
            return
        self._client.budget = self.budget.at(self._online_price)
        try:
            self._canary.check_now(self._client)
        finally:
            self.budget.take_over(self._client.budget)
