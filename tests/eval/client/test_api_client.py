from __future__ import annotations

import asyncio
import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from eval.client.api_client import HOPELESS, Patience
from eval.client.budget import Budget, Price
from eval.client.chat_client import ChatClient
from eval.client.chat_reply import Fault, Reply, Usage
from eval.config import ConfigError

SERVER = runpy.run_path(str(Path(__file__).with_name("judge_server.py")))
JudgeServer, LASTING, PASSING = SERVER["JudgeServer"], SERVER["LASTING"], SERVER["PASSING"]

BODY = {"model": "m", "messages": [{"role": "user", "content": "hello" * 200}], "max_completion_tokens": 50}
SOON = Patience(attempt_s=0.5, request_s=30, backoff_s=0.001)
PRICE = Price(input=2.0, cached_input=0.5, output=10.0, up_to_input_tokens=100_000, date="2026-01-01")
REPLY_COST = PRICE.of(Usage(900, 20, 400))
Outcome = tuple[Reply | Fault, float | None]


def ask(
    server: Any, count: int = 1, *, patience: Patience = SOON, concurrency: int = 8, budget: Budget | None = None
) -> tuple[list[Outcome], ChatClient]:
    async def run() -> tuple[list[Outcome], ChatClient]:
        client = ChatClient(server.url, "secret", concurrency=concurrency, patience=patience, budget=budget)
        async with client:
            return list(await asyncio.gather(*(client.complete(BODY) for _ in range(count)))), client

    return asyncio.run(run())


def one(schedule: Iterable[str], **options: Any) -> tuple[Reply | Fault, Any, ChatClient]:
    with JudgeServer(schedule) as server:
        [(outcome, _)], client = ask(server, **options)
    return outcome, server, client


def test_a_request_arrives_as_it_was_given_with_the_key() -> None:
    outcome, server, _ = one([])
    assert server.requests == [BODY] and server.headers[0]["authorization"] == "Bearer secret"
    assert isinstance(outcome, Reply) and outcome.finish == "stop" and outcome.usage == Usage(900, 20, 400)


@pytest.mark.parametrize("fault", PASSING)
def test_what_may_pass_is_tried_again(fault: str) -> None:
    outcome, server, client = one([fault, fault])
    assert isinstance(outcome, Reply)
    assert len(server.requests) == 3 == sum(client.attempts.values()) and client.attempts["reply"] == 1


@pytest.mark.parametrize(("fault", "kind"), [("400", "http_400"), ("400_long", "context_too_long")])
def test_a_refused_request_is_not_tried_again(fault: str, kind: str) -> None:
    outcome, server, _ = one([fault])
    assert isinstance(outcome, Fault) and outcome.kind == kind and len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [("429_quota", "add credit"), ("401", "check the variable"), ("404", "check `model`"), ("400_parameter", "check")],
)
def test_what_all_requests_would_get_stops_the_run(fault: str, remedy: str) -> None:
    with JudgeServer([fault]) as server:
        with pytest.raises(ConfigError, match=remedy) as problem:
            ask(server)
        assert len(server.requests) == 1 and "secret" not in str(problem.value)


def test_a_fault_that_stays_is_told_with_its_kind() -> None:
    outcome, _, client = one(["500"] * 1000, patience=Patience(0.5, 0.2, 0.01))
    assert isinstance(outcome, Fault) and outcome.kind in {"server_error", "deadline"}
    assert client.attempts["server_error"] > 1


def test_a_server_that_never_answers_ends_at_the_deadline() -> None:
    outcome, _, _ = one(["hang"] * 100, patience=Patience(60, 0.2, 0.01))
    assert isinstance(outcome, Fault) and outcome.kind == "deadline"


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    faults = SERVER["FAULTS"]
    faults["429_hour"] = (429, {"Retry-After": "3600"}, {"code": "rate_limit_exceeded"})
    outcome, server, _ = one(["429_hour"])
    assert isinstance(outcome, Fault) and outcome.kind == "rate_limited" and len(server.requests) == 1


def test_nobody_there_is_a_fault_and_for_many_requests_the_end_of_the_run() -> None:
    with JudgeServer() as server:
        pass
    [(outcome, _)], _ = ask(server, patience=Patience(0.5, 0.05, 0.001))
    assert isinstance(outcome, Fault) and outcome.kind in {"connection", "deadline"}
    advice = "check base_url and that its server is running; finished rows are kept"
    with pytest.raises(ConfigError, match=f"first {HOPELESS} requests to {server.url} all failed, .*; {advice}$"):
        ask(server, HOPELESS, patience=Patience(0.5, 0.05, 0.001))


def test_one_success_and_failures_are_only_failures() -> None:
    with JudgeServer(["ok", *["400"] * 30]) as server:
        outcomes, _ = ask(server, 31, concurrency=1)
    assert sum(isinstance(outcome, Fault) for outcome, _ in outcomes) == 30


def test_no_more_requests_run_than_are_allowed_and_429_lowers_that() -> None:
    with JudgeServer(latency=0.005) as server:
        outcomes, client = ask(server, 60, concurrency=8)
        assert all(isinstance(outcome, Reply) for outcome, _ in outcomes)
        assert 1 < server.most_running <= 8 and client.limit.allowed == 8
    with JudgeServer(["429"] * 3) as server:
        outcomes, client = ask(server, 3, concurrency=8)
        assert all(isinstance(outcome, Reply) for outcome, _ in outcomes) and client.limit.allowed < 8


def test_the_budget_is_never_passed_and_used_up_to_the_last_request_that_fits() -> None:
    bound = Budget(PRICE).bound(BODY, 50)
    limit = bound + 3.5 * REPLY_COST
    with JudgeServer() as server:
        budget = Budget(PRICE, limit)
        outcomes, _ = ask(server, 20, budget=budget)
        kinds = [outcome.kind for outcome, _ in outcomes if isinstance(outcome, Fault)]
        assert len(server.requests) == 4 and kinds == ["budget"] * 16
        assert budget.spent == pytest.approx(4 * REPLY_COST) and budget.spent <= limit and budget.held == 0
        assert [cost for outcome, cost in outcomes if isinstance(outcome, Reply)] == [pytest.approx(REPLY_COST)] * 4


@pytest.mark.parametrize(("fault", "paid"), [("429", False), ("500", False), ("reset", True), ("half_json", True)])
def test_an_attempt_that_may_have_been_worked_on_is_booked(fault: str, paid: bool) -> None:
    budget = Budget(PRICE, 1.0)
    with JudgeServer([fault]) as server:
        [(_, cost)], _ = ask(server, budget=budget)
    assert cost == budget.spent == pytest.approx(REPLY_COST + paid * budget.bound(BODY, 50))


@pytest.mark.parametrize("proxied", [False, True])
def test_an_attempt_that_no_server_heard_of_costs_nothing(proxied: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with JudgeServer() as server:
        pass
    if proxied:
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)

    async def attempt() -> Reply | Fault:
        async with ChatClient(server.url, "secret", concurrency=1, patience=Patience()) as client:
            return await client._sent(BODY)

    outcome = asyncio.run(attempt())
    assert isinstance(outcome, Fault) and (outcome.kind, outcome.transient) == ("connection", True)
    assert not outcome.billable


def test_a_server_that_does_not_count_tokens_is_booked_at_the_bound() -> None:
    budget = Budget(PRICE, 1.0)
    with JudgeServer(usage=False) as server:
        ask(server, budget=budget)
    assert budget.spent == pytest.approx(budget.bound(BODY, 50)) and budget.tokens == Usage(0, 0)


def test_the_environment_does_not_redirect_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    _, server, _ = one([])
    assert server.headers[0]["authorization"] == "Bearer secret"


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with JudgeServer() as server, JudgeServer() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        proxy.paths[f"{server.url}/chat/completions"] = "/v1/chat/completions"
        [(outcome, _)], _ = ask(server)
        assert isinstance(outcome, Reply) and len(proxy.requests) == 1 and not server.requests
