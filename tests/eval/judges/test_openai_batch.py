from __future__ import annotations

import runpy
import time
from pathlib import Path
from typing import Any

import pytest

from eval.client.response_cache import ResponseCache
from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.judge import used_between
from eval.judges.openai import Judge

SERVER = runpy.run_path(str(Path(__file__).parent.parent / "client" / "judge_server.py"))
JudgeServer = SERVER["JudgeServer"]
DIALOGUES = [
    Dialogue("t", (Message("user", "How many?"), Message("assistant", "Seven."), Message("user", f"Why {number}?")))
    for number in range(8)
]


def judge(server: Any, cache: Path | None = None, **options: Any) -> Judge:
    given = {
        "model": "gpt-5.4-nano",
        "api_key_variable": None,
        "mode": "batch",
        "poll_s": 0.0,
        "canary": False,
        **options,
    }
    return Judge(base_url=server.url, cache=cache, **given)


def kinds(results: dict[str, Judgement | Failure]) -> list[str]:
    return [r.kind if isinstance(r, Failure) else r.label for r in (results[d.id] for d in DIALOGUES)]


def results_of(judge: Judge) -> dict[str, Judgement | Failure]:
    pairs = [(dialogue.id, result) for dialogue, result in judge.judge(DIALOGUES)]
    assert len(pairs) == len(DIALOGUES)
    return dict(pairs)


def test_results_are_matched_by_id_and_cost_half() -> None:
    with JudgeServer() as server:
        server.batch_plans = [{"rows": {2: "refusal"}}]
        batch = judge(server)
        results = results_of(batch)
    assert kinds(results) == ["genuine_followup"] * 2 + ["refusal"] + ["genuine_followup"] * 5
    assert results[DIALOGUES[2].id].detail == "I can't\u2028help\x85with that."
    price = (500 * 0.2 + 400 * 0.02 + 20 * 1.25) / 1e6 / 2
    assert results[DIALOGUES[0].id].cost == pytest.approx(price)
    assert batch.measured["dollars"] == pytest.approx(8 * price, abs=1e-6)
    assert len(server.batches) == 1 and len(server.requests) == 8


def test_failed_expired_and_missing_rows_are_sent_again_and_the_others_not() -> None:
    with JudgeServer() as server:
        first = {0: "500", 1: "expired", 2: "missing", 3: "400", 4: "unknown_label", 5: "no_choices", 6: "429"}
        server.batch_plans = [{"status": "expired", "rows": first}, {"rows": {0: "500"}}]
        results = results_of(judge(server))
    good = "genuine_followup"
    assert kinds(results) == [good, good, good, "http_400", "unknown_label", good, good, good]
    assert [len(server.files[batch["input_file_id"]].splitlines()) for batch in server.batches.values()] == [8, 5, 1]


def test_what_stays_away_is_a_failure() -> None:
    with JudgeServer() as server:
        server.batch_plans = [{"rows": {0: "missing", 1: "500"}}] + [{"rows": {0: "missing", 1: "500"}}] * 2
        assert kinds(results_of(judge(server)))[:2] == ["missing", "server_error"]
    assert len(server.batches) == 3


def test_a_batch_of_errors_alone_has_no_output_file() -> None:
    with JudgeServer() as server:
        server.batch_plans = [{"rows": dict.fromkeys(range(8), "400_parameter")}]
        results = results_of(judge(server))
        assert kinds(results) == ["refused"] * 8 and "check `model`" in results[DIALOGUES[0].id].detail
    assert len(server.batches) == 1


def test_a_batch_over_the_token_limit_is_halved() -> None:
    with JudgeServer() as server:
        refused = {"status": "failed", "code": "token_limit_exceeded"}
        server.batch_plans = [refused, refused]
        assert kinds(results_of(judge(server))) == ["genuine_followup"] * 8
    assert [len(server.files[batch["input_file_id"]].splitlines()) for batch in server.batches.values()] == [
        8,
        4,
        2,
        2,
        4,
    ]
    assert len(server.requests) == 8


def test_a_batch_that_is_refused_stops_the_run() -> None:
    with JudgeServer() as server:
        server.batch_plans = [{"status": "failed", "code": "invalid_json_line"}]
        with pytest.raises(ConfigError, match="batch_0 failed: invalid_json_line"):
            results_of(judge(server))


def test_a_server_without_batches_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with JudgeServer() as server:
        monkeypatch.setattr(server, "batch_api", lambda *_: (404, {}, b"{}"))
        with pytest.raises(ConfigError, match=r"no Batch API; set judge\.mode to online"):
            results_of(judge(server))


def test_a_stopped_run_collects_its_batch_and_pays_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"

    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    with JudgeServer() as server:
        server.batch_plans = [{"rows": {7: "500"}}]
        with monkeypatch.context() as patch:
            patch.setattr(time, "sleep", stop)
            with pytest.raises(KeyboardInterrupt):
                results_of(judge(server, cache))
        assert len(server.batches) == 1
        again = judge(server, cache)
        results = [result for _, result in again.judge(DIALOGUES[:3])]
        assert len(results) == 3 and len(server.batches) == 1 and again.measured["questions"]["judged"] == 7
        assert kinds(results_of(judge(server, cache))) == ["genuine_followup"] * 8
        assert [len(server.files[b["input_file_id"]].splitlines()) for b in server.batches.values()] == [8, 1]
        assert kinds(results_of(judge(server, cache))) == ["genuine_followup"] * 8 and len(server.batches) == 2


@pytest.mark.parametrize("made", [True, False])
def test_a_run_that_was_stopped_while_a_batch_was_made_pays_once(
    made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    real = ResponseCache.put

    def stop(journal: ResponseCache, key: str, value: dict[str, Any]) -> None:
        if made and key.startswith("batch/"):
            raise KeyboardInterrupt
        real(journal, key, value)

    with JudgeServer() as server:
        list(judge(server).judge(DIALOGUES[:1]))  # a batch of somebody else
        with monkeypatch.context() as patch:
            patch.setattr(ResponseCache, "put", stop)
            if not made:
                patch.setattr(server, "_new_batch", lambda _: (_ for _ in ()).throw(ConnectionError))
            with pytest.raises(KeyboardInterrupt if made else ConfigError):
                results_of(judge(server, cache))
        assert len(server.batches) == 1 + made
        again = judge(server, cache)
        assert kinds(results_of(again)) == ["genuine_followup"] * 8 and len(server.batches) == 2
        assert again.measured["questions"]["judged"] == 8 and len(server.requests) == 1 + 8
    with ResponseCache(cache) as kept:
        assert kept.keys("batch/") == kept.keys("upload/") == []


def test_a_batch_that_the_server_has_forgotten_is_sent_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = tmp_path / "cache"
    with JudgeServer() as server, monkeypatch.context() as patch:
        patch.setattr(time, "sleep", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            results_of(judge(server, cache))
    with JudgeServer(port=server.port) as server:
        assert kinds(results_of(judge(server, cache))) == ["genuine_followup"] * 8


def test_a_batch_without_one_verdict_is_read_to_its_end_and_stops_the_run(tmp_path: Path) -> None:
    many = [Dialogue("t", (*DIALOGUES[0].messages[:-1], Message("user", f"Why {number}?"))) for number in range(25)]
    with JudgeServer() as server:
        server.batch_plans = [{"rows": dict.fromkeys(range(25), "prose")}]
        seen = []
        with pytest.raises(ConfigError, match=r"first 25 replies.*not_json"):
            for _, result in judge(server, tmp_path / "cache").judge(many):
                seen.append(result)
        assert len(seen) == 25 and all(isinstance(result, Failure) for result in seen)
        assert len(list(judge(server, tmp_path / "cache").judge(many[:3]))) == 3 and len(server.batches) == 2


def test_the_budget_bounds_a_batch_before_it_is_sent() -> None:
    with JudgeServer() as server:
        batch = judge(server, budget_usd=0.004)
        results = results_of(batch)
    assert set(kinds(results)) == {"genuine_followup", "budget"}
    assert 0 < len(server.requests) < 8 and batch.measured["dollars"] <= 0.004


def test_one_judge_serves_many_calls() -> None:
    with JudgeServer() as server:
        batch = judge(server)
        first = [result for _, result in batch.judge(DIALOGUES[:3])]
        between = batch.measured
        second = [result for _, result in batch.judge(DIALOGUES)]
        assert len(server.requests) == 8 and len(server.batches) == 2
    used = used_between(between, batch.measured)
    assert used["questions"] == {"known before": 3, "judged": 5} and between["questions"] == {"judged": 3}
    assert used["dollars"] == pytest.approx(sum(result.cost for result in second), abs=1e-5)
    assert batch.measured["dollars"] == pytest.approx(sum(result.cost for result in first + second), abs=1e-5)


def test_copies_share_one_request() -> None:
    with JudgeServer() as server:
        results = list(judge(server).judge([DIALOGUES[0]] * 3))
    assert len(server.requests) == 1 and sorted(result.tokens for _, result in results) == [0, 0, 920]
