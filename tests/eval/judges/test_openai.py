from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.client.response_cache import ResponseCache
from eval.config import ConfigError, Plugin, options_for
from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.gated_text import GATED
from eval.judge import used_between
from eval.judges.openai import Judge
from eval.model_judge.verdict import RESPONSE_FORMAT
from eval.probe_config import ProbeConfig
from eval.stages import decide

SERVER = runpy.run_path(str(Path(__file__).parent.parent / "client" / "judge_server.py"))
JudgeServer, LASTING, PASSING = SERVER["JudgeServer"], SERVER["LASTING"], SERVER["PASSING"]
KINDS = {
    "400": "http_400",
    "400_long": "context_too_long",
    "length": "truncated",
    "length_empty": "truncated",
    "length_whole": "truncated",
    "filtered": "content_filter",
    "refusal": "refusal",
    "empty": "empty",
    "blank": "empty",
    "unknown_label": "unknown_label",
    "duplicate": "duplicate_field",
    "duplicate_label": "duplicate_field",
    "string_genuine": "wrong_type",
    "number_genuine": "wrong_type",
    "list_label": "wrong_type",
    "missing": "wrong_fields",
    "extra": "wrong_fields",
    "two_verdicts": "not_json",
    "fenced": "not_json",
    "prose": "not_json",
    "deep": "not_json",
    "tool": "unfinished",
    "null": "wrong_fields",
}
"""What each lasting fault of the server is to be counted as."""
OPTIONS = {"model": "judge-1", "api_key_variable": None, "cache": None, "concurrency": 4, "backoff_s": 0.002}
OPTIONS["canary"] = False  # it asks too, and here requests are counted; its own tests: model_judge/test_canary.py
SCRIPT = """
import sys
from pathlib import Path
from eval.dialogue import Dialogue, Message
from eval.judge import used_between
from eval.judges.openai import Judge
url, cache, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
judge = Judge(model="judge-1", base_url=url, api_key_variable=None, cache=cache, canary=False, concurrency=4)
turns = [("user", "How many?"), ("assistant", "Seven.")]
dialogues = [
    Dialogue("t", (*(Message(*turn) for turn in turns), Message("user", f"Why {number}?"))) for number in range(count)
]
try:
    for _, result in judge.judge(dialogues):
        print(result.label, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def dialogue(text: object) -> Dialogue:
    return Dialogue(
        "t", (Message("user", "How many?"), Message("assistant", "Seven."), Message("user", f"Why {text}?"))
    )


def turn(request: dict[str, Any]) -> str:
    return str(json.loads(request["messages"][1]["content"])["user_turn"])


def judge_one(schedule: Iterable[str], **options: Any) -> tuple[Judgement | Failure, Any, Judge]:
    with JudgeServer(schedule) as server:
        judge = Judge(**{**OPTIONS, "base_url": server.url, **options})
        [(_, result)] = judge.judge([dialogue(1)])
    return result, server, judge


def test_a_judgement_keeps_the_evidence() -> None:
    result, server, judge = judge_one([], model="gpt-5.4-nano-2026-03-17", budget_usd=1.0)
    assert isinstance(result, Judgement)
    assert (result.label, result.genuine, result.judge) == ("genuine_followup", True, judge.id)
    assert json.loads(result.reply) == {"label": "genuine_followup", "genuine": True}
    server_name = server.url.removeprefix("http://")
    assert result.prompt_sha
    assert judge.id == f"openai-gpt-5.4-nano-2026-03-17@{server_name}-{result.prompt_sha[:8]}"
    assert result.tokens == 920 and result.cost == pytest.approx((500 * 0.2 + 400 * 0.02 + 20 * 1.25) / 1e6)
    assert judge.measured == {
        "questions": {"judged": 1},
        "models": {"judge-1": 1},
        "attempts": {"reply": 1},
        "input_tokens": 900,
        "cached_input_tokens": 400,
        "output_tokens": 20,
        "dollars": pytest.approx(result.cost),
        "prices_of": judge.measured["prices_of"],
    }
    [request] = server.requests
    assert request.keys() == {"model", "messages", "response_format", "max_completion_tokens"}
    assert request["response_format"] == RESPONSE_FORMAT


def test_reasoning_effort_is_sent_only_when_it_is_set() -> None:
    _, server, judge = judge_one([], reasoning_effort="low")
    assert server.requests[0]["reasoning_effort"] == "low" and "-low@" in judge.id


@pytest.mark.parametrize("fault", LASTING)
def test_what_is_no_verdict_is_a_failure_of_its_kind(fault: str) -> None:
    result, _, judge = judge_one([fault] * 2)
    assert isinstance(result, Failure) and (result.stage, result.kind) == ("judge", KINDS[fault])
    assert judge.measured["questions"] == {result.kind: 1}


def test_a_reply_that_was_cut_off_is_asked_for_once_more_with_more_room() -> None:
    result, server, judge = judge_one(["length_empty"])
    assert isinstance(result, Judgement)
    assert [request["max_completion_tokens"] for request in server.requests] == [1000, 4000]
    assert judge.measured["output_tokens"] == 40


@settings(max_examples=70)
@given(
    st.lists(st.sampled_from([*PASSING, *LASTING, "ok", "slow"]), max_size=14),
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
)
def test_under_any_schedule_of_faults_all_rows_are_counted_and_no_fault_is_a_score(
    schedule: list[str], texts: list[int]
) -> None:
    rows = [Dialogue("t", dialogue(text).messages, meta={"row": row}) for row, text in enumerate(texts)]
    failed = Dialogue("t", rows[0].messages, failure=Failure("generate", "context_too_long"))
    with JudgeServer(schedule) as server:
        judge = Judge(**OPTIONS, base_url=server.url, attempt_s=0.25, request_s=2.0)
        finished = list(decide([*rows, failed], judge))
        states = Counter(row.state for row in finished)
        assert sum(states.values()) == len(rows) + 1 == states["ok"] + states["judge_error"] + states["gen_error"]
        assert Counter(row.id for row in finished) == Counter(row.id for row in [*rows, failed])
        judged = [row for row in finished if row.judgement]
        for row in judged:
            assert row.judgement and (row.judgement.label, row.judgement.genuine) == ("genuine_followup", True)
            assert row.judgement.judge == judge.id and row.failure is None
        known = {row.messages[-1].text for row in judged}
        asked = server.served["ok"] + server.served["slow"]
        assert judge.measured["questions"].get("judged", 0) == len(known) <= asked
        assert sum(1 for row in judged if row.judgement and row.judgement.tokens) == len(known)
        before = len(server.requests)
        again = list(judge.judge(rows))
        assert known.isdisjoint(map(turn, server.requests[before:]))
        assert all(isinstance(result, Judgement) for row, result in again if row.messages[-1].text in known)


def test_copies_share_one_request_and_its_cost() -> None:
    with JudgeServer(latency=0.02) as server:
        judge = Judge(**OPTIONS, base_url=server.url)
        results = [result for _, result in judge.judge([dialogue(1)] * 5 + [dialogue(2)] * 5)]
    assert len(server.requests) == 2 and sorted(result.tokens for result in results) == [0] * 8 + [920] * 2


def test_a_failure_is_asked_again_and_a_judgement_never(tmp_path: Path) -> None:
    with JudgeServer(["unknown_label"]) as server:
        options = {**OPTIONS, "base_url": server.url, "cache": tmp_path / "cache"}
        assert isinstance(next(Judge(**options).judge([dialogue(1)]))[1], Failure)
        first = next(Judge(**options).judge([dialogue(1)]))[1]
        second = next(Judge(**options).judge([dialogue(1)]))[1]
        assert len(server.requests) == 2 and isinstance(second, Judgement)
        assert (second.label, second.reply, second.prompt_sha) == (first.label, first.reply, first.prompt_sha)
        assert second.tokens == 0
        other = Judge(**{**options, "model": "judge-2"})
        list(other.judge([dialogue(1)]))
        assert len(server.requests) == 3


def test_another_server_is_another_judge(tmp_path: Path) -> None:
    options = {**OPTIONS, "cache": tmp_path / "cache"}
    with JudgeServer() as first, JudgeServer() as second:
        judges = [Judge(**options, base_url=url) for url in (first.url, second.url, f"{first.url}/")]
        judged = [next(judge.judge([dialogue(1)]))[1] for judge in judges]
        assert len(first.requests) == len(second.requests) == 1
    assert judges[0].id == judges[2].id != judges[1].id
    assert [result.judge for result in judged] == [judge.id for judge in judges]


@pytest.mark.parametrize("base_url", ["https://api.openai.com/v1", "HTTPS://API.OpenAI.com:443/v1/"])
def test_the_id_leaves_openai_out_however_it_is_written(base_url: str) -> None:
    judge = Judge(**{**OPTIONS, "base_url": base_url, "model": "m-2026-01-01"})
    assert "@" not in judge.id


def test_dialogues_without_a_turn_to_judge_cost_nothing() -> None:
    user, assistant = Message("user", "a"), Message("assistant", "b")
    with JudgeServer() as server:
        judge = Judge(**OPTIONS, base_url=server.url)
        cases = [(), (user,), (user, assistant), (user, assistant, user)]
        kinds = {
            d.messages: r.kind if isinstance(r, Failure) else r.label
            for d, r in judge.judge(Dialogue("t", case) for case in cases)
        }
    expected = ["no_user_turn", "no_response", "no_user_turn", "genuine_followup"]
    assert kinds == dict(zip(cases, expected, strict=True))
    assert len(server.requests) == 1


def test_dialogues_are_drawn_only_as_there_is_room() -> None:
    drawn = []

    def source() -> Iterator[Dialogue]:
        for number in range(100):
            drawn.append(number)
            yield dialogue(number)

    with JudgeServer(latency=0.01) as server:
        results = Judge(**OPTIONS, base_url=server.url).judge(source())
        next(results)
        assert len(drawn) <= 9
        results.close()
        assert len(server.requests) <= 9


def test_out_of_quota_stops_the_run_and_keeps_what_was_judged(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with JudgeServer(["ok", "ok", "429_quota", *["hang"] * 10]) as server:
        judge = Judge(**{**OPTIONS, "base_url": server.url, "cache": cache, "concurrency": 1})
        seen = []
        with pytest.raises(ConfigError, match="add credit"):
            for _, result in judge.judge(dialogue(number) for number in range(50)):
                seen.append(result)
    assert len(seen) == 2 and len(server.requests) == 3
    with ResponseCache(cache) as kept:
        assert len(kept) == 2


def test_one_judge_serves_many_calls_from_one_budget_and_tells_each_apart() -> None:
    options = {**OPTIONS, "model": "gpt-5.4-nano", "budget_usd": 0.004}
    with JudgeServer() as server:
        judge = Judge(**options, base_url=server.url)
        results, calls = [], []
        for call in range(6):
            before = judge.measured
            given = [result for _, result in judge.judge(dialogue(f"{call} {number}") for number in range(10))]
            results += given
            calls.append(used_between(before, judge.measured))
            assert sum(calls[-1]["questions"].values()) == 10
        asked = len(server.requests)
    judged = [result for result in results if isinstance(result, Judgement)]
    assert 10 < len(judged) == asked < 60
    assert {result.kind for result in results if isinstance(result, Failure)} == {"budget"}
    assert calls[0]["questions"] == {"judged": 10} and calls[0]["input_tokens"] == 9000
    assert calls[5]["questions"] == {"budget": 10} and calls[5]["dollars"] == 0 == calls[5]["input_tokens"]
    assert sum(call["dollars"] for call in calls) == pytest.approx(judge.measured["dollars"], abs=1e-5)
    assert judge.measured["dollars"] == pytest.approx(sum(result.cost for result in judged), abs=1e-5)
    assert judge.measured["dollars"] <= options["budget_usd"] and judge.measured["questions"]["judged"] == asked


def test_a_server_whose_replies_hold_no_verdict_stops_the_run() -> None:
    with JudgeServer(["fenced", "prose", *["unknown_label"] * 500]) as server:
        judge = Judge(**OPTIONS, base_url=server.url)
        seen = []
        with pytest.raises(ConfigError, match=r"first 20 replies.*unknown_label.*brilliant"):
            for _, result in judge.judge(dialogue(number) for number in range(500)):
                seen.append(result)
        assert 20 <= len(server.requests) <= 20 + 2 * OPTIONS["concurrency"]
        assert all(isinstance(result, Failure) for result in seen) and len(seen) <= 20


@pytest.mark.parametrize(
    ("mode", "fault", "kind"),
    [("online", "unknown_label", "unknown_label"), ("batch", "prose", "not_json"), ("online", "echo", "http_400")],
)
def test_what_stops_a_run_on_gated_text_quotes_none_of_it(mode: str, fault: str, kind: str) -> None:
    """A judge's reply and a server's complaint may repeat the question, and the error goes to a log."""
    gated = [replace(dialogue(number), meta={"number": number, **GATED}, id="") for number in range(60)]
    with JudgeServer([fault] * 300) as server:
        server.batch_plans = [{"rows": dict.fromkeys(range(60), fault)}]
        judge = Judge(**OPTIONS, base_url=server.url, mode=mode, poll_s=0.001)
        with pytest.raises(ConfigError, match=kind) as stopped:
            list(judge.judge(gated))
    for quote in ("brilliant", "genuine_followup, true", "Why"):
        assert quote not in str(stopped.value)


def test_one_verdict_now_or_earlier_makes_unreadable_replies_mere_failures(tmp_path: Path) -> None:
    with JudgeServer(["ok", *["prose"] * 80]) as server:
        options = {**OPTIONS, "base_url": server.url, "cache": tmp_path / "cache", "concurrency": 1}
        for _ in range(2):
            results = [result for _, result in Judge(**options).judge(dialogue(number) for number in range(30))]
            assert sum(isinstance(result, Failure) for result in results) == 29


def test_the_budget_ends_the_spending_and_not_the_run() -> None:
    with JudgeServer() as server:
        judge = Judge(**{**OPTIONS, "model": "gpt-5.4-nano", "base_url": server.url, "budget_usd": 0.004})
        results = [result for _, result in judge.judge(dialogue(number) for number in range(60))]
    failures = [result for result in results if isinstance(result, Failure)]
    assert {failure.kind for failure in failures} == {"budget"} and 0 < len(failures) < 60
    assert 0 < judge.measured["dollars"] <= 0.004
    assert sum(result.cost for result in results if isinstance(result, Judgement)) == pytest.approx(
        judge.measured["dollars"], abs=1e-6
    )


def test_a_call_ends_at_its_deadline() -> None:
    with JudgeServer(["hang"] * 100) as server:
        judge = Judge(**OPTIONS, base_url=server.url, call_s=0.2)
        results = [result for _, result in judge.judge(dialogue(number) for number in range(30))]
        assert {result.kind for result in results if isinstance(result, Failure)} == {"deadline"} and len(results) == 30
        assert len(server.requests) <= 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "gpt-5.4-mini"}, "no date.*gpt-5.4-mini-YYYY-MM-DD"),
        ({"model": "gpt-5.4-mini", "base_url": "https://api.openai.com/v1/"}, "no date"),
        ({"base_url": "localhost:8000/v1"}, r"judge\.base_url 'localhost:8000/v1'.*http://HOST:PORT/v1"),
        ({}, "OPENAI_API_KEY is not set: export OPENAI_API_KEY="),
        ({"api_key_variable": "MY_KEY"}, "MY_KEY is not set"),
        ({"api_key_variable": "sk-1234567890"}, "is the name of an environment variable"),
        ({"base_url": "http://localhost:1/v1", "api_key_variable": None, "model": "m", "budget_usd": 1}, "no price"),
    ],
)
def test_what_cannot_work_is_said_before_any_work(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " ")
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(ConfigError, match=message) as problem:
        Judge(**{"cache": None, **options})
    assert "sk-1234" not in str(problem.value)


def test_a_probe_checks_its_options() -> None:
    def config(**judge: Any) -> ProbeConfig:
        fields = {"model": "m", "format": "smollm2", "tasks": {"pocket": {}}, "run_dir": "r"}
        return ProbeConfig.model_validate({**fields, "judge": Plugin(name="openai", **judge)})

    assert config(budget_usd="5", cache="c").judge.options == {"budget_usd": 5.0, "cache": Path("c")}
    with pytest.raises(ValueError, match="temperature"):
        config(temperature=0)


@pytest.mark.parametrize(
    "option",
    ["concurrency=0", "concurrency=-1", "max_completion_tokens=0", "budget_usd=-1"]
    + [f"{name}=0" for name in ("attempt_s", "request_s", "call_s", "poll_s")],
)
def test_a_number_with_which_nothing_would_ever_be_judged_is_refused(option: str) -> None:
    name, value = option.split("=")
    with pytest.raises(ConfigError, match=rf"judge\.{name} = '{value}': Input should be greater than"):
        options_for(Judge.__init__, {name: value}, "judge")


def test_a_killed_run_loses_only_what_was_under_way(tmp_path: Path) -> None:
    cache, count = tmp_path / "cache", 60
    with JudgeServer(latency=0.01) as server:
        command = [sys.executable, "-c", SCRIPT, server.url, str(cache), str(count)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            assert run.stdout
            seen = sum(1 for _ in zip(range(15), run.stdout, strict=False))
            os.kill(run.pid, signal.SIGKILL)
        first = len(server.requests)
        with ResponseCache(cache) as kept:
            known = len(kept)
        assert seen == 15 <= known < count and first - known <= 4
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.count("genuine_followup") == count
        assert len(server.requests) - first == count - known


def test_ctrl_c_ends_it_while_the_server_hangs(tmp_path: Path) -> None:
    with JudgeServer(["ok", *["hang"] * 100]) as server:
        command = [sys.executable, "-c", SCRIPT, server.url, str(tmp_path / "cache"), "20"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            assert run.stdout and run.stdout.readline().strip() == "genuine_followup"
            os.kill(run.pid, signal.SIGINT)
            assert run.stdout.read().strip() == "interrupted" and run.wait() == 0


def test_two_processes_share_one_cache(tmp_path: Path) -> None:
    with JudgeServer(latency=0.002) as server:
        command = [sys.executable, "-c", SCRIPT, server.url, str(tmp_path / "cache"), "80"]
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        assert [run.communicate()[0].count("genuine_followup") for run in runs] == [80, 80]
        before = len(server.requests)
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.count("genuine") == 80
        assert len(server.requests) == before <= 160
