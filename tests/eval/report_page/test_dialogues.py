"""In which part of a report each dialogue is, and what it tells of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.finished_runs import read_runs
from eval.report import report
from eval.report_page.dialogues import MAX_TEXT, Limits, spread
from eval.report_page.page import pages_of, write_page

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


def test_beyond_the_limit_dialogues_follow_in_parts_alike_in_every_run(
    make_run: MakeRun, rows_of: Any, read_page: Any, tmp_path: Path
) -> None:
    def rows(genuine: int) -> list[Dialogue]:
        return rows_of("gsm8k", 60, genuine) + rows_of("ifbench", 6, 0)

    plain, warm = make_run("a", rows(30)), make_run("b", rows(0)[::-1], temperature=1.0)
    found = write_page(read_runs([plain, warm]), tmp_path / "page.html", limits=Limits(rows=40))
    paths = [tmp_path / "page.html", *(tmp_path / "page_parts" / f"{number}.html" for number in (2, 3, 4))]
    assert len(found.parts) == 4 and found.dialogues == 66
    assert sorted((tmp_path / "page_parts").iterdir()) == paths[1:] and pages_of(paths[0]) == paths
    shown: list[str] = []
    for path, part in zip(paths, found.parts, strict=True):
        page = read_page(path)
        of_run = [{row["id"] for row in page.json("rows") if row["run"] == number} for number in (0, 1)]
        assert of_run[0] == of_run[1] and len(of_run[0]) == part.dialogues > 0
        assert f"{part.dialogues} of 66 dialogues: part {paths.index(path) + 1} of 4" in " ".join(page.text.split())
        links = [attributes["href"] for name, attributes in page.elements if name == "a" and "href" in attributes]
        led = {(path.parent / link).resolve() for link in links if link and not link.startswith("#")}
        assert set(paths) <= led, "each part leads to all others"
        shown += of_run[0]
    assert len(shown) == len(set(shown)) == 66
    assert "Results" in read_page(paths[0]).text and "Table 2" not in read_page(paths[1]).text


def test_a_shorter_report_leaves_no_part_of_a_longer_one_and_no_file_of_others_goes(
    make_run: MakeRun, rows_of: Any, tmp_path: Path
) -> None:
    runs = read_runs([make_run("a", rows_of("gsm8k", 30, 3))])
    folder = tmp_path / "page_parts"
    write_page(runs, tmp_path / "page.html", limits=Limits(rows=5))
    assert len(list(folder.iterdir())) == 5
    (folder / "notes.html").write_text("mine")
    write_page(runs, tmp_path / "page.html", limits=Limits(rows=10))
    assert sorted(path.name for path in folder.iterdir()) == ["2.html", "3.html", "notes.html"]
    (folder / "notes.html").unlink()
    write_page(runs, tmp_path / "page.html")
    assert not folder.exists() and sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "runs"]


def test_the_part_does_not_depend_on_what_was_said_or_judged(make_run: MakeRun, rows_of: Any, tmp_path: Path) -> None:
    found = []
    for name, genuine, turn in (("a", 0, "short"), ("b", 50, "rather longer than that")):
        (tmp_path / f"spool_{name}").mkdir()
        runs = read_runs([make_run(name, rows_of("gsm8k", 50, genuine, turn=turn))])
        spread_out = spread(runs, Limits(rows=10), False, tmp_path / f"spool_{name}")
        found.append([{json.loads(entry)["id"] for entry in part.entries()} for part in spread_out.parts])
    assert found[0] == found[1] and len(found[0]) == 5


def test_bytes_are_limited_and_one_text_is_cut(make_run: MakeRun, row_of: Any, read_page: Any, tmp_path: Path) -> None:
    long = row_of("gsm8k", 0, turn="x" * (MAX_TEXT + 7))
    run = make_run("run", [long, *(row_of("gsm8k", number) for number in range(1, 30))])
    found = write_page(read_runs([run]), tmp_path / "page.html", limits=Limits(bytes=5_000))
    assert len(found.parts) > 5 and found.dialogues == 30
    (row,) = [row for row in read_page(report([run])).json("rows") if row["id"] == long.id]
    assert row["messages"][-1]["text"] == "x" * MAX_TEXT + "\n[7 more characters in rows.jsonl]"
