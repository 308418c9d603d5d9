"""Which dialogues a report holds, and what it tells of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.report import report
from eval.report_page.dialogues import MAX_TEXT, Limits, choose
from eval.report_page.page import write_page
from eval.runs import read_runs

MakeRun = Callable[..., Path]


def test_every_row_is_there_with_all_that_happened_to_it(page_of: Any, row_of: Any) -> None:
    judged = row_of("gsm8k", 1, "generic_followup", True, correct=False, turn="Sure?")
    failed = replace(row_of("gsm8k", 2), judgement=None, failure=Failure("judge", "timeout", "after 60 s"))
    cut = row_of("gsm8k", 3)
    cut = replace(cut, messages=(*cut.messages[:-1], replace(cut.messages[-1], finish="length")))
    early = Dialogue("gsm8k", (Message("user", "q"),), failure=Failure("generate", "context_too_long"))
    real = Dialogue(
        "coval_real_user",
        (Message("user", "q"), Message("assistant", "a"), Message("user", "really?")),
        meta={"source": "real_user"},
        judgement=Judgement("other", False, "local-1"),
    )
    rows = {row["id"]: row for row in page_of([judged, failed, cut, early, real]).json("rows")}
    assert len(rows) == 5
    shown = rows[judged.id]
    assert (shown["answer"], shown["turn"], shown["state"], shown["correct"]) == (1, 2, "ok", False)
    assert shown["judgement"] == {"label": "generic_followup", "genuine": True, "judge": "local-1", "reply": ""}
    assert shown["messages"][2] == {"role": "user", "text": "Sure?", "by": "tiny@0123", "finish": "stop", "tokens": 3}
    assert rows[failed.id]["failure"] == {"stage": "judge", "kind": "timeout", "detail": "after 60 s"}
    assert rows[cut.id]["state"] == "truncated"
    assert (rows[early.id]["answer"], rows[early.id]["turn"], rows[early.id]["state"]) == (None, None, "gen_error")
    assert (rows[real.id]["answer"], rows[real.id]["turn"], rows[real.id]["setting"]) == (1, 2, "held-out")


def test_beyond_the_limit_tasks_take_turns_alike_in_every_run(
    make_run: MakeRun, rows_of: Any, read_page: Any, tmp_path: Path
) -> None:
    def rows(genuine: int) -> list[Dialogue]:
        return rows_of("gsm8k", 60, genuine) + rows_of("ifbench", 6, 0)

    plain, warm = make_run("a", rows(30)), make_run("b", rows(0)[::-1], temperature=1.0)
    runs = read_runs([plain, warm])
    choice = write_page(runs, tmp_path / "page.html", limits=Limits(rows=40))
    page = read_page(tmp_path / "page.html")
    shown = page.json("rows")
    of_run = [{row["id"] for row in shown if row["run"] == number} for number in (0, 1)]
    assert of_run[0] == of_run[1] == choice.ids and len(shown) == 40
    assert sum(row["task"] == "ifbench" for row in shown) == 12
    assert (choice.shown, choice.total) == (20, 66)
    assert "20 of 66 dialogues: as many as stay within 40 rows" in " ".join(page.text.split())
    assert choose(runs[::-1], Limits(rows=40), False).ids == choice.ids


def test_the_choice_does_not_look_at_what_was_said_or_judged(make_run: MakeRun, rows_of: Any) -> None:
    ids = [
        choose(read_runs([make_run(name, rows_of("gsm8k", 50, genuine, turn=turn))]), Limits(rows=10), False).ids
        for name, genuine, turn in (("a", 0, "short"), ("b", 50, "rather longer than that"))
    ]
    assert ids[0] == ids[1] and len(ids[0] or ()) == 10


def test_bytes_are_limited_and_one_text_is_cut(make_run: MakeRun, row_of: Any, read_page: Any, tmp_path: Path) -> None:
    long = row_of("gsm8k", 0, turn="x" * (MAX_TEXT + 7))
    run = make_run("run", [long, *(row_of("gsm8k", number) for number in range(1, 30))])
    limits = Limits(bytes=5_000)
    choice = write_page(read_runs([run]), tmp_path / "page.html", limits=limits)
    assert 0 < choice.shown < 30
    (row,) = [row for row in read_page(report([run])).json("rows") if row["id"] == long.id]
    assert row["messages"][-1]["text"] == "x" * MAX_TEXT + "\n[7 more characters in rows.jsonl]"
