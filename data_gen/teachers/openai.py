"""A language model as teacher, behind OpenAI's API or any server that speaks chat completions with JSON-schema output.

It speaks both sides of each plan, one turn a request; what it is told is in `openai.yaml` beside it and in the styles.
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
"""Bytes of person and conversation that an estimate reckons with: a long answer and three more exchanges have fewer."""
CACHE = Path("~/.cache/userturn/turns.sqlite")


class Teacher:
    """Asks a model for turn after turn of many conversations at once, and believes only replies that keep the schema.

    Args:
        model: at OpenAI, a dated id, because an alias moves to another model some day.
        base_url: where the server's `/chat/completions` is. Any but OpenAI's is named in the id of the teacher.
        api_key_variable: name of the environment variable that holds the key; None for a server without keys.
        reasoning_effort: None leaves it to the server.
        temperature: None leaves it to the server. The gpt-5 family refuses it.
        max_completion_tokens: of one turn, reasoning included.
        budget_usd: US dollars that this teacher may spend; the rest of the conversations then fail with kind "budget".
            It is a limit of one process: what was spent before it started is not counted.
        cache: file of spoken turns, shared by every run of one machine; None remembers them in memory only. Where the
            home is on a network file system, name a file on a local disk: `--teacher.cache /local/turns.sqlite`.
        concurrency: most requests at once; it adapts below that. Twice as many conversations are in hand.
        attempt_s: seconds for one attempt.
        request_s: seconds for one turn with all its attempts.
        backoff_s: seconds before the first retry, at most; doubled for each further one.
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
        """Check everything that can be checked without a request.

        Raises:
            ConfigError: the key is missing, the address is none, the model has no date or takes no temperature, or a
                budget has no price to hold it with.
        """
        endpoint = endpoint_for(model, base_url, api_key_variable, whose="teacher")
        if temperature is not None and re.match(r"(.*/)?gpt-5", model):
            raise ConfigError(f"teacher.temperature: {model} refuses one, like all of the gpt-5 family; leave it out")
        options = {"reasoning_effort": reasoning_effort, "temperature": temperature}
        chosen = {name: value for name, value in options.items() if value is not None}
        request = {"model": model, "max_completion_tokens": max_completion_tokens, **chosen}
        prompts = TurnPrompts(PROMPTS, read_styles(style_names()), request, endpoint.server)
        self.id = _id(model, chosen, endpoint.server, prompts.sha)
        self._budget = Budget(price_of(model), budget_usd)
        self.cost_bound = _dearest(prompts, self._budget)
        self._store = TurnStore(ResponseCache(cache.expanduser() if cache else None), self.id)
        self._client = ChatClient(
            base_url,
            endpoint.api_key,
            concurrency=concurrency,
            patience=Patience(attempt_s, request_s, backoff_s),
            budget=self._budget,
        )
        self._conversing = Conversing(self.id, prompts, self._client, self._store)

    @property
    def measured(self) -> dict[str, Any]:
        """What this teacher has done since it was made: questions, attempts, tokens, dollars."""
        return {**self._store.measured, "attempts": dict(self._client.attempts), **self._budget.totals}

    def converse(self, plans: Iterable[Plan]) -> Generator[tuple[Plan, Dialogue], None, None]:
        """Each plan with its conversation, as each is finished. One call at a time.

        Raises:
            ConfigError: the account is out of quota, the key is refused, or no request of the run can succeed.
        """
        return self._conversing.converse(plans)


def _id(model: str, chosen: dict[str, Any], server: str | None, sha: str) -> str:
    """Name of the model with what it is asked to do differently, its server if not OpenAI, hash of what it is told."""
    effort = f"-{chosen['reasoning_effort']}" if "reasoning_effort" in chosen else ""
    warmth = f"-t{chosen['temperature']:g}" if "temperature" in chosen else ""
    return f"openai-{model}{effort}{warmth}" + (f"@{server}" if server else "") + f"-{sha[:8]}"


def _dearest(prompts: TurnPrompts, budget: Budget) -> float | None:
    """US dollars that a turn of a long conversation costs at most, faults aside; None without a price."""
    seed = Dialogue("", (Message("user", ""), Message("assistant", "x" * LONGEST)))
    plan = Plan(0, seed, (), Persona(*[""] * 5), 0)
    turns: tuple[tuple[Message, ...], ...] = ((), (Message("user", ""),))
    bodies = [prompts.question(plan, before, style).body for style in style_names() for before in turns]
    return cost_bound(budget, max(bodies, key=lambda body: len(str(body["messages"]))))
