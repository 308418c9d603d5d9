"""One canary is judged by the real judge, embedded or behind a real server."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from eval.checks.finding import examine
from eval.checks.judge_reachable import CANARY, NOW, judge_checks
from eval.config import Plugin

SERVER = runpy.run_path(str(Path(__file__).parent.parent / "client" / "judge_server.py"))
JudgeServer = SERVER["JudgeServer"]


def finding_of(judge: Plugin):
    return next(finding for name, finding in examine(judge_checks([("judge", judge)])) if name == "judge")


def openai(url: str, **options) -> Plugin:
    return Plugin(name="openai", model="judge-1", base_url=url, api_key_variable=None, **options)


def test_the_embedded_judge_judges_it() -> None:
    finding = finding_of(Plugin(name="local"))
    assert finding.status == "pass" and "genuine_followup, genuine True" in finding.told


def test_a_server_is_asked_even_where_a_verdict_is_remembered(tmp_path) -> None:
    with JudgeServer() as server:
        for times in (1, 2):
            judge = openai(server.url, cache=tmp_path / "judgements", mode="batch")
            assert finding_of(judge).status == "pass" and len(server.requests) == times
        assert CANARY.messages[-1].text in json.dumps(server.requests[0])
    assert not (tmp_path / "judgements").exists()


def test_a_server_that_is_not_there_is_a_failure(monkeypatch) -> None:
    monkeypatch.setitem(NOW, "request_s", 1.0)
    with JudgeServer() as server:
        url = server.url
    finding = finding_of(openai(url, backoff_s=0.001))
    assert finding.status == "fail" and "did not judge a canary" in finding.told and url in finding.todo


@pytest.mark.parametrize(("fault", "told"), [("401", "key"), ("404", "model"), ("prose", "not_json")])
def test_a_server_that_refuses_is_a_failure(fault, told) -> None:
    with JudgeServer([fault] * 50) as server:
        finding = finding_of(openai(server.url, backoff_s=0.001))
    assert finding.status == "fail" and told in finding.told


def test_a_judge_that_denies_the_canary_is_a_warning() -> None:
    verdict = json.dumps({"label": "new_task_prompt", "genuine": False})
    with JudgeServer(answer=lambda body: verdict) as server:
        finding = finding_of(openai(server.url))
    assert finding.status == "warn" and "new_task_prompt, genuine False" in finding.told


def test_a_missing_key_is_named(monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    finding = finding_of(Plugin(name="openai"))
    assert finding.status == "fail" and "OPENAI_API_KEY is not set" in finding.told


def test_the_cache_of_a_paid_judge_is_looked_at() -> None:
    assert [check.name for check in judge_checks([("judge", openai("http://h/v1"))])] == ["judge", "cache of judge"]


def test_equal_judges_are_asked_once() -> None:
    pair = [("judge that rewards", Plugin(name="local")), ("judge that evaluates", Plugin(name="local"))]
    assert [check.name for check in judge_checks(pair)] == ["judge that rewards"]
    assert len(judge_checks([pair[0], ("judge that evaluates", Plugin(name="grounding"))])) == 2
