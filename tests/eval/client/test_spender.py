"""One budget over all processes of a run, against a real server."""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval.client.spender import spending, start_spending
from eval.client.spending import spent_in
from eval.dialogue import Dialogue, Failure, Message
from eval.judges.local import Judge as LocalJudge
from eval.judges.openai import Judge
from eval.probe import main as probe
from eval.rows import read_rows
from eval.sweep import main as sweep

JudgeServer = runpy.run_path(str(Path(__file__).parent / "judge_server.py"))["JudgeServer"]
MODEL, BUDGET = "gpt-5.4-nano", 0.004
"""A request costs $0.000133, and no more are sent when less than about $0.002 is left."""
REPLY_COST = (500 * 0.2 + 400 * 0.02 + 20 * 1.25) / 1e6
SCRIPT = """
import sys
from pathlib import Path
from eval.client.spender import start_spending
from eval.dialogue import Dialogue, Message
from eval.judges.openai import Judge
url, folder, budget = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
judge = Judge(
    model="gpt-5.4-nano", base_url=url, api_key_variable=None, cache=folder / "cache", canary=False, concurrency=1,
    budget_usd=budget,
)
start_spending("judge", judge, folder)
said = (Message("user", "How many?"), Message("assistant", "Seven."))
dialogues = [Dialogue("t", (*said, Message("user", f"Why {number}?"))) for number in range(60)]
for _, result in judge.judge(dialogues):
    print(getattr(result, "label", None) or result.kind, flush=True)
print(judge.budget, flush=True)
"""


def openai(server: Any, **options: Any) -> Judge:
    given = {"model": MODEL, "api_key_variable": None, "cache": None, "canary": False, "concurrency": 1, **options}
    return Judge(base_url=server.url, **given)


def dialogues(n: int, about: str = "it") -> list[Dialogue]:
    said = (Message("user", "How many?"), Message("assistant", "Seven."))
    return [Dialogue("t", (*said, Message("user", f"Why {about} {number}?"))) for number in range(n)]


def outcomes(judge: Judge, asked: list[Dialogue]) -> Counter[str]:
    return Counter(r.kind if isinstance(r, Failure) else "judged" for _, r in judge.judge(asked))


def test_a_killed_process_and_its_successor_share_one_budget(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with JudgeServer() as server:
        command = [sys.executable, "-c", SCRIPT, server.url]
        subprocess.run([*command, str(tmp_path / "one"), str(BUDGET)], check=True, capture_output=True)
        within_budget = len(server.requests)
    assert 8 < within_budget < 40
    with JudgeServer(latency=0.005) as server:
        command = [sys.executable, "-c", SCRIPT, server.url, str(tmp_path / "two")]
        with subprocess.Popen([*command, str(BUDGET)], stdout=subprocess.PIPE, text=True) as run:
            assert run.stdout
            seen = sum(1 for _ in zip(range(6), run.stdout, strict=False))
            os.kill(run.pid, signal.SIGKILL)
        recorded = spent_in(tmp_path / "two")["judge"]
        assert seen == 6 <= recorded["requests"] <= len(server.requests) <= recorded["requests"] + 1
        again = subprocess.run([*command, str(BUDGET)], check=True, capture_output=True, text=True).stdout.splitlines()
        in_all = spent_in(tmp_path / "two")["judge"]
        assert in_all["requests"] == within_budget and in_all["dollars"] <= BUDGET
        assert within_budget <= len(server.requests) <= within_budget + 1  # the one in flight at the kill
        # What the first process was told is cached, so that it costs the second one nothing.
        assert Counter(again[:-1]) == {"genuine_followup": within_budget, "budget": 60 - within_budget}
        assert again[-1] == f"${in_all['dollars']:.2f} of ${BUDGET:.2f}"
        more = subprocess.run([*command, "1"], check=True, capture_output=True, text=True).stdout.splitlines()
        assert Counter(more[:-1]) == {"genuine_followup": 60}


def test_attempts_that_gave_no_verdict_count_too(tmp_path: Path) -> None:
    with JudgeServer(["prose", "hang", "400"]) as server:
        judge = openai(server, budget_usd=1.0, attempt_s=0.2, backoff_s=0.001)
        start_spending("judge", judge, tmp_path)
        outcomes(judge, dialogues(3))
    spent = spent_in(tmp_path)["judge"]
    assert spent["dollars"] == pytest.approx(judge.budget.spent) and spent["dollars"] > 3 * REPLY_COST
    assert spent["requests"] == 3 and spent["output_tokens"] == 40  # a reply without a verdict, a timeout, a verdict
    later = openai(server, budget_usd=1.0)
    start_spending("judge", later, tmp_path)
    assert later.budget.spent_in_all == pytest.approx(judge.budget.spent)


def test_two_judges_of_a_run_have_a_budget_each(tmp_path: Path) -> None:
    with JudgeServer() as server:
        for by in ("judge", "probe_judge"):
            judge = openai(server, budget_usd=BUDGET)
            start_spending(by, judge, tmp_path)
            assert outcomes(judge, dialogues(5)) == {"judged": 5}
    assert {by: spent["requests"] for by, spent in spent_in(tmp_path).items()} == {"judge": 5, "probe_judge": 5}


@pytest.mark.parametrize("first", ["batch", "online"])
def test_batches_and_the_canary_before_them_are_in_the_budget(tmp_path: Path, first: str) -> None:
    with JudgeServer() as server:
        for mode in (first, "batch"):
            options = {"mode": mode, "poll_s": 0.001, "budget_usd": 0.03, "canary": True, "cache": tmp_path / mode}
            judge = openai(server, **options)
            start_spending("judge", judge, tmp_path)
            before = judge.budget.spent_in_all
            outcomes(judge, dialogues(200, about=f"{before}"))
        assert spent_in(tmp_path)["judge"]["dollars"] == pytest.approx(judge.budget.spent_in_all, abs=1e-6)
        assert before > 0 and judge.budget.spent_in_all <= 0.03
        third = openai(server, mode="batch", poll_s=0.001, budget_usd=before, canary=True, cache=tmp_path / "third")
        start_spending("judge", third, tmp_path)
        asked = len(server.requests)
        assert outcomes(third, dialogues(3)) == {"budget": 3} and len(server.requests) == asked


def test_a_judge_that_is_free_spends_nothing(tmp_path: Path) -> None:
    judge = LocalJudge()
    start_spending("judge", judge, tmp_path)
    assert spending(judge=judge, probe_judge=None) == "" and list(tmp_path.iterdir()) == []


def test_what_a_display_shows(tmp_path: Path) -> None:
    with JudgeServer() as server:
        paid, priceless = openai(server, budget_usd=2), openai(server, model="judge-1")
        start_spending("judge", paid, tmp_path)
        outcomes(paid, dialogues(8))
        outcomes(priceless, dialogues(8))
        assert (
            spending(judge=paid, teacher=openai(server), probe_judge=priceless) == "judge $0.00 of $2.00, teacher $0.00"
        )
        paid.budget.book(None, 1.256)
        assert spending(judge=paid) == "judge $1.26 of $2.00"


def test_a_run_resumes_with_what_is_left_of_its_budget(
    tmp_path: Path, tiny_model: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def start(budget: float) -> Counter[str]:
        judge = {"name": "openai", "model": MODEL, "api_key_variable": None, "cache": None, "canary": False}
        config = {
            "model": str(tiny_model),
            "format": "smollm2",
            "engine": {"name": "transformers", "device": "cpu"},
            "answers": {"max_tokens": 4},
            "sampling": {"max_tokens": 12, "temperature": 1.0},
            "tasks": {"pocket": {"limit": 10}},
            "judge": {**judge, "base_url": server.url, "concurrency": 1, "budget_usd": budget},
            "run_dir": str(tmp_path / "run"),
        }
        (tmp_path / "probe.yaml").write_text(yaml.safe_dump(config))
        assert probe(["--config", str(tmp_path / "probe.yaml")]) == 0
        rows = read_rows(tmp_path / "run" / "rows.jsonl")
        return Counter(row.failure.kind if row.failure else "judged" for row in rows)

    with JudgeServer() as server:
        first = start(BUDGET)
        assert first.keys() == {"judged", "budget"} and f"judge $0.00 of ${BUDGET:.2f}" in capfd.readouterr().err
        assert start(BUDGET) == first and len(server.requests) == first["judged"]
        assert start(1.0) == {"judged": first.total()}
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["spent"]["judge"]["requests"] == len(server.requests) == first.total()
    assert manifest["spent"]["judge"]["dollars"] == pytest.approx(first.total() * REPLY_COST, abs=1e-6)
    assert sum(session["judge"]["dollars"] for session in manifest["sessions"]) == pytest.approx(
        manifest["spent"]["judge"]["dollars"], abs=1e-5
    )


def test_the_cells_of_a_sweep_share_one_budget(tmp_path: Path, tiny_model: Path) -> None:
    def start(budget: float) -> int:
        judge = {"name": "openai", "model": MODEL, "api_key_variable": None, "cache": None, "canary": False}
        config = {
            "run_dir": str(tmp_path / "sweep"),
            "models": {"tiny-1.0": {"model": str(tiny_model), "format": "smollm2"}},
            "temperatures": [0.8, 1.0],
            "probe": {
                "engine": {"name": "transformers", "device": "cpu"},
                "answers": {"max_tokens": 4},
                "sampling": {"max_tokens": 12},
                "tasks": {"pocket": {"limit": 3}},
                "judge": {**judge, "base_url": server.url, "concurrency": 1, "budget_usd": budget},
            },
        }
        (tmp_path / "sweep.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
        before = len(server.requests)
        assert sweep(["--config", str(tmp_path / "sweep.yaml")]) == 0
        return len(server.requests) - before

    with JudgeServer() as server:
        first = start(BUDGET)
        cells = [path.parent for path in (tmp_path / "sweep").rglob("spent.jsonl")]
        assert len(cells) == 2
        assert sum(spent_in(cell)["judge"]["requests"] for cell in cells) == first < 18
        assert start(BUDGET) == 0
        assert start(1.0) == 18 - first
