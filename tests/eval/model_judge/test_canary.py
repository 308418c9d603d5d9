"""The canary of the judge `openai`, against a real server that may answer otherwise on another day."""

from __future__ import annotations

import json
import logging
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval.client.response_cache import ResponseCache
from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.judge import used_between
from eval.judges.openai import CANARY, Judge

SERVER = runpy.run_path(str(Path(__file__).parent.parent / "client" / "judge_server.py"))
JudgeServer = SERVER["JudgeServer"]
ITEMS: dict[str, dict[str, str]] = yaml.safe_load(CANARY.read_text(encoding="utf-8"))
TURNS = {json.dumps(item, sort_keys=True): name for name, item in ITEMS.items()}
YES, NO = {"label": "genuine_followup", "genuine": True}, {"label": "new_task_prompt", "genuine": False}
OTHER_LABEL = {"label": "generic_followup", "genuine": True}


def dialogues(n: int = 3) -> list[Dialogue]:
    context = (Message("user", "How many?"), Message("assistant", "Seven."))
    return [Dialogue("t", (*context, Message("user", f"Why {number}?"))) for number in range(n)]


def item_of(request: dict[str, Any]) -> str | None:
    """The canary item that a request asks about."""
    asked = json.loads(request["messages"][1]["content"])
    query, response = (turn["text"] for turn in asked["context"])
    item = {"query": query, "response": response, "user_turn": asked["user_turn"]}
    return TURNS.get(json.dumps(item, sort_keys=True))


def moved(**changed: dict[str, Any]) -> Callable[[dict[str, Any]], str]:
    """Answers yes to all but the items named."""
    return lambda request: json.dumps(changed.get(item_of(request) or "", YES))


def judge(server: Any, cache: Path | None, **options: Any) -> Judge:
    given = {"model": "gpt-5.4-nano", "api_key_variable": None, "concurrency": 8, "backoff_s": 0.002, **options}
    return Judge(base_url=server.url, cache=cache, **given)


def run(judge: Judge, rows: list[Dialogue] | None = None) -> list[Judgement | Failure]:
    return [result for _, result in judge.judge(dialogues() if rows is None else rows)]


def asked(server: Any) -> list[str | None]:
    return [item_of(request) for request in server.requests]


def test_the_items_are_few_and_different() -> None:
    assert 20 <= len(ITEMS) <= 40 and len(TURNS) == len(ITEMS)
    assert all(set(item) == {"query", "response", "user_turn"} for item in ITEMS.values())


def test_the_first_run_keeps_its_verdicts_and_the_next_compares(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with JudgeServer() as server:
        first = judge(server, cache)
        assert all(isinstance(result, Judgement) for result in run(first))
        assert set(asked(server)[: len(ITEMS)]) == set(ITEMS), "before any row"
        assert asked(server)[len(ITEMS) :] == [None] * 3
        assert first.measured["canary"] == {"asked": len(ITEMS), "failed": 0, "changed": 0}
        assert first.measured["questions"] == {"judged": 3}
        second = judge(server, cache)
        run(second, dialogues(5))
        assert len(server.requests) == 2 * len(ITEMS) + 5, "asked again, not recalled"
        run(second, dialogues(6))
        assert len(server.requests) == 2 * len(ITEMS) + 6, "once for each judge"
    with ResponseCache(cache) as kept:
        assert len(kept.keys("canary/")) == len(ITEMS)


def test_a_judge_that_has_moved_is_refused_by_name_with_the_items_and_before_any_row(tmp_path: Path) -> None:
    cache, names = tmp_path / "cache", list(ITEMS)[:4]
    with JudgeServer() as server:
        first = judge(server, cache)
        run(first)
        server.answer = moved(**dict.fromkeys(names, NO))
        before = len(server.requests)
        now = judge(server, cache)
        for _ in range(2):
            with pytest.raises(ConfigError) as error:
                run(now, dialogues(9))
        assert asked(server)[before:].count(None) == 0 and len(server.requests) == before + len(ITEMS)
        assert first.id in str(error.value) and all(f"{name} (" in str(error.value) for name in names)
        assert "4 otherwise in the binary" in str(error.value) and "judge.canary false" in str(error.value)
        assert len(run(judge(server, cache, canary=False), dialogues(9))) == 9
        with pytest.raises(ConfigError, match="has drifted"):  # the first verdicts have not been overwritten
            run(judge(server, cache), dialogues(10))
        server.answer = moved()
        assert len(run(judge(server, cache), dialogues(10))) == 10


@pytest.mark.parametrize(("answer", "refused", "allowed"), [(NO, 4, 3), (OTHER_LABEL, 9, 8)])
def test_up_to_the_bound_a_change_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, answer: dict[str, Any], refused: int, allowed: int
) -> None:
    with JudgeServer() as server:
        run(judge(server, tmp_path / "cache"))
        server.answer = moved(**dict.fromkeys(list(ITEMS)[:allowed], answer))
        within = judge(server, tmp_path / "cache")
        with caplog.at_level(logging.WARNING):
            run(within, dialogues(4))
        assert within.measured["canary"]["changed"] == allowed and within.id in caplog.text
        server.answer = moved(**dict.fromkeys(list(ITEMS)[:refused], answer))
        with pytest.raises(ConfigError, match=f"and {refused} in any way"):
            run(judge(server, tmp_path / "cache"), dialogues(5))


def test_items_that_fail_are_counted_and_get_their_first_verdict_later(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with JudgeServer(["ok", "prose", "unknown_label", "refusal", "429", "reset", "half_json"]) as server:
        first = judge(server, cache, concurrency=1)
        assert all(isinstance(result, Judgement) for result in run(first))
        assert first.measured["canary"] == {"asked": len(ITEMS), "failed": 3, "changed": 0}
        assert first.measured["questions"] == {"judged": 3}, "their failures are not those of rows"
        with ResponseCache(cache) as kept:
            assert len(kept.keys("canary/")) == len(ITEMS) - 3
        assert judge(server, cache).measured.get("canary") is None
        second = judge(server, cache)
        run(second, dialogues(4))
        assert second.measured["canary"] == {"asked": len(ITEMS), "failed": 0, "changed": 0}
    with ResponseCache(cache) as kept:
        assert len(kept.keys("canary/")) == len(ITEMS)


def test_its_cost_is_in_the_budget(tmp_path: Path) -> None:
    with JudgeServer() as server:
        paid = judge(server, tmp_path / "cache", budget_usd=1.0)
        results = run(paid)
        price = (500 * 0.2 + 400 * 0.02 + 20 * 1.25) / 1e6
        assert paid.measured["dollars"] == pytest.approx((len(ITEMS) + 3) * price, abs=1e-6)
        assert sum(result.cost or 0 for result in results if isinstance(result, Judgement)) == pytest.approx(3 * price)
        poor = judge(server, tmp_path / "poor", budget_usd=0.006)
        failed = run(poor, dialogues(60))
        assert poor.measured["dollars"] <= 0.006
        assert "budget" in {result.kind for result in failed if isinstance(result, Failure)}


def test_where_nothing_new_is_asked_nothing_is_paid(tmp_path: Path) -> None:
    with JudgeServer() as server:
        run(judge(server, tmp_path / "cache"))
        before = len(server.requests)
        again = judge(server, tmp_path / "cache")
        assert all(isinstance(result, Judgement) for result in run(again)) and len(server.requests) == before
        assert "canary" not in again.measured
        assert run(again, []) == [] and len(server.requests) == before


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_without_a_cache_there_is_nothing_to_compare_with(mode: str) -> None:
    with JudgeServer() as server:
        run(judge(server, None, mode=mode, poll_s=0.001))
        assert set(asked(server)) == {None}


def test_batches_are_sent_after_the_check_and_it_costs_what_online_requests_cost(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with JudgeServer() as server:
        batched = judge(server, cache, mode="batch", poll_s=0.001, budget_usd=1.0)
        before = batched.measured
        assert len(run(batched)) == 3 and len(server.batches) == 1
        price = (500 * 0.2 + 400 * 0.02 + 20 * 1.25) / 1e6
        used = used_between(before, batched.measured)
        assert used["dollars"] == pytest.approx(len(ITEMS) * price + 3 * price / 2, abs=1e-6)
        assert used["canary"] == {"asked": len(ITEMS)} and used["input_tokens"] == 900 * (len(ITEMS) + 3)
        server.answer = moved(**dict.fromkeys(list(ITEMS)[:5], NO))
        now = judge(server, cache, mode="batch", poll_s=0.001)
        for _ in range(2):
            with pytest.raises(ConfigError, match="has drifted"):
                run(now, dialogues(5))
        assert len(server.batches) == 1


def test_a_server_that_hangs_leaves_the_deadline_of_the_call(tmp_path: Path) -> None:
    with JudgeServer(["hang"] * 100) as server:
        results = run(judge(server, tmp_path / "cache", call_s=0.2), dialogues(12))
        assert [result.kind for result in results if isinstance(result, Failure)] == ["deadline"] * 12


def test_out_of_quota_is_told_as_ever(tmp_path: Path) -> None:
    with JudgeServer(["429_quota"] * 40) as server, pytest.raises(ConfigError, match="add credit"):
        run(judge(server, tmp_path / "cache"))
