"""A language model as teacher, over OpenAI's API or any chat completions server with JSON-schema output.

It generates both sides of each plan, one turn per request; its prompts are in `openai.yaml` and in the styles.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from data_gen.model_teacher.conversing import Conversing
from data_gen.model_teacher.turn_prompts import TurnPrompts
from data_gen.model_teacher.turn_store import TurnStore
from data_gen.plan import Persona, Plan
from data_gen.style import read_styles, style_names
from eval.client.api_client import Patience
from eval.client.budget import Budget, price_of
from eval.client.chat_client import ChatClient
from eval.client.endpoint import OPENAI, ReasoningEffort, endpoint_for
from eval.client.response_cache import ResponseCache
from eval.client.whole_reply import cost_bound
from eval.config import ConfigError
from eval.dialogue import Dialogue, Message

PROMPTS = Path(__file__).with_suffix(".yaml")
LONGEST = 24_000
"""Bytes of persona and conversation assumed for the cost bound; a long answer and three more exchanges have fewer."""
CACHE = Path("$USERTURN_CACHE/turns")


class Teacher:
    """Generates many conversations concurrently, turn by turn, and accepts only replies that match the schema.

    Args:
        model: at OpenAI, a dated id, because an alias may later point to another model.
        base_url: parent URL of the server's `/chat/completions`. Any but OpenAI's is part of the teacher's id.
        api_key_variable: name of the environment variable that holds the key; None for a server without keys.
        reasoning_effort: None leaves it to the server.
        temperature: None leaves it to the server. The gpt-5 family rejects it.
        max_completion_tokens: per turn, reasoning included.
        budget_usd: US dollars that this teacher may spend in a run; the remaining conversations then fail with kind
            "budget". Spending of earlier processes of the run counts (`spent.jsonl` in its folder), except for requests
            that were in flight when one was killed.
        cache: folder of generated turns, shared by all runs, also across machines that mount it. By default it is in
            the folder that USERTURN_CACHE names, else in `~/.cache/userturn`. None caches in memory only.
        concurrency: maximum concurrent requests; adapts below that. Twice as many conversations are in progress.
        attempt_s: timeout of one attempt, in seconds.
        request_s: timeout of one turn with all its attempts, in seconds.
        backoff_s: maximum delay before the first retry, in seconds; doubled for each further retry.
    """

    def __init__(
        self,
        *,
        model: str = "gpt-5.4-mini-2026-03-17",
        base_url: str = OPENAI,
        api_key_variable: str | None = "OPENAI_API_KEY",
        reasoning_effort: ReasoningEffort | None = None,
        temperature: NonNegativeFloat | None = None,
        max_completion_tokens: PositiveInt = 1000,
        budget_usd: NonNegativeFloat | None = None,
        cache: Path | None = CACHE,
        concurrency: PositiveInt = 64,
        attempt_s: PositiveFloat = 60.0,
        request_s: PositiveFloat = 300.0,
        backoff_s: NonNegativeFloat = 0.5,
    ) -> None:
        """Validate the settings without sending a request.

        Raises:
            ConfigError: the key is missing, the URL is not valid, the model is not dated or takes no temperature, or
                there is a budget but no known price.
        """
        endpoint = endpoint_for(model, base_url, api_key_variable, whose="teacher")
        if temperature is not None and re.match(r"(.*/)?gpt-5", model):
            raise ConfigError(f"teacher.temperature: {model} rejects it, like all of the gpt-5 family; remove it")
        options = {"reasoning_effort": reasoning_effort, "temperature": temperature}
        chosen = {name: value for name, value in options.items() if value is not None}
        request = {"model": model, "max_completion_tokens": max_completion_tokens, **chosen}
        prompts = TurnPrompts(PROMPTS, read_styles(style_names()), request, endpoint.server)
        self.id = _teacher_id(model, chosen, endpoint.server, prompts.sha)
        self.budget = Budget(price_of(model), budget_usd)
        self.cost_bound = _turn_cost_bound(prompts, self.budget)
        self.cache = ResponseCache(cache)
        self._store = TurnStore(self.cache, self.id)
        self._client = ChatClient(
            base_url,
            endpoint.api_key,
            concurrency=concurrency,
            patience=Patience(attempt_s, request_s, backoff_s),
            budget=self.budget,
        )
        self._conversing = Conversing(self.id, prompts, self._client, self._store)

    @property
    def measured(self) -> dict[str, Any]:
        """Usage since construction: questions, attempts, tokens, dollars."""
        return {**self._store.measured, "attempts": dict(self._client.attempts), **self.budget.totals}

    def converse(self, plans: Iterable[Plan]) -> Generator[tuple[Plan, Dialogue], None, None]:
        """Each plan with its conversation, as it finishes. Calls must not overlap.

        Raises:
            ConfigError: the account is out of quota, the key is rejected, or no request of the run can succeed.
        """
        return self._conversing.converse(plans)


def _teacher_id(model: str, chosen: dict[str, Any], server: str | None, sha: str) -> str:
    """Model name, non-default sampling options, the server if it is not OpenAI's, and the hash of the prompts."""
    effort = f"-{chosen['reasoning_effort']}" if "reasoning_effort" in chosen else ""
    temperature = f"-t{chosen['temperature']:g}" if "temperature" in chosen else ""
    return f"openai-{model}{effort}{temperature}" + (f"@{server}" if server else "") + f"-{sha[:8]}"


def _turn_cost_bound(prompts: TurnPrompts, budget: Budget) -> float | None:
    """Most US dollars that a turn of a long conversation costs, retries aside; None if the price is unknown."""
    seed = Dialogue("", (Message("user", ""), Message("assistant", "x" * LONGEST)))
    plan = Plan(0, seed, (), Persona(*[""] * 5), 0)
    turns: tuple[tuple[Message, ...], ...] = ((), (Message("user", ""),))
    bodies = [prompts.question(plan, before, style).body for style in style_names() for before in turns]
    return cost_bound(budget, max(bodies, key=lambda body: len(str(body["messages"]))))
