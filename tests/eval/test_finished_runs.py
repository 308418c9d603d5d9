"""Finished run folders read back as they were written; anything else is refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Message
from eval.finished_runs import read_run, read_runs
from eval.summary import summarise

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


def test_a_run_reads_back_as_it_was_written(make_run: MakeRun, rows_of: RowsOf) -> None:
    rows = [
        *rows_of("gsm8k", 10, 2, right=7),
        *rows_of("coval", 5, 1, held_out=True),
        Dialogue("gsm8k", (Message("user", "q"),), failure=Failure("generate", "context_too_long")),
    ]
    run = read_run(make_run("greedy", rows, model="SmolLM2-135M-Instruct@0123", temperature=0.7))
    assert (run.name, run.model, run.format, run.temperature) == ("greedy", "SmolLM2-135M-Instruct", "smollm2", 0.7)
    assert not run.perturbed
    assert run.summaries == tuple(summarise(rows))
    assert list(run.rows()) == rows
    assert list(run.rows()) == rows, "rows can be read again"


def test_a_run_tells_its_name_and_which_data_it_holds(make_run: MakeRun, rows_of: RowsOf) -> None:
    tasks = {"gsm8k": {"version": 1}, "gpqa": {"version": 2, "subset": "main"}}
    run = read_run(make_run("named", rows_of("gsm8k", 3, 1), called="SFT", tasks=tasks))
    assert run.given_name == "SFT"
    assert run.selection == {
        "gsm8k": {"version": 1, "seed": 0},
        "gpqa": {"version": 2, "subset": "main", "seed": 0},
    }
    assert read_run(make_run("bare", rows_of("gsm8k", 3, 1))).given_name is None


def test_every_row_has_a_place(make_run: MakeRun, rows_of: RowsOf) -> None:
    rows = rows_of("gsm8k", 3, 1)
    path = make_run("again", [*rows, rows[1]])
    found = {row.id: str(place) for place, row in read_run(path).located_rows()}
    assert found == {row.id: f"{path}/rows.jsonl:{line}" for row, line in zip(rows, (1, 4, 3), strict=True)}


@pytest.mark.parametrize("kept", [0, 3, 5.5])
def test_rows_that_a_finished_run_has_lost_are_missed(make_run: MakeRun, rows_of: RowsOf, kept: float) -> None:
    path = make_run("short", [*rows_of("gsm8k", 2, 1), *rows_of("coval", 4, 1, held_out=True)])
    file = path / "rows.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    torn = lines[int(kept)][:-40] if kept % 1 else ""
    file.write_text("".join(lines[: int(kept)]) + torn, encoding="utf-8")
    lost = "coval 4 of 4, gsm8k 2 of 2" if kept == 0 else f"coval {6 - int(kept)} of 4"
    with pytest.raises(ConfigError, match=rf"short has lost rows: {lost}; complete it with `python -m eval\.probe"):
        list(read_run(path).rows())


def test_a_shard_is_a_run_but_not_one_of_those_to_tabulate(make_shard: MakeRun, rows_of: RowsOf) -> None:
    path = make_shard("1-of-3", rows_of("gsm8k", 3, 1))
    assert read_run(path).shard == "1/3"
    with pytest.raises(ConfigError, match=r"1-of-3 is shard 1/3 of a run; merge the shards first with `python -m eval"):
        read_runs([path])


def test_a_perturbed_run_says_so(make_run: MakeRun, rows_of: RowsOf) -> None:
    assert read_run(make_run("cut", rows_of("gsm8k", 3, 1), perturbation={"name": "truncate"})).perturbed


def test_folders_that_are_no_finished_run_are_refused_by_name(
    make_run: MakeRun, rows_of: RowsOf, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"no run folder .*nowhere; make one with"):
        read_run(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match=r"is not a run folder: it has no manifest\.json"):
        read_run(tmp_path)
    half = make_run("half", rows_of("gsm8k", 3, 1), finish=False)
    with pytest.raises(
        ConfigError, match=r"half is not finished: it has no summary\.json; complete it with `python -m"
    ):
        read_run(half)
    path = make_run("bare", rows_of("gsm8k", 3, 1))
    (path / "rows.jsonl").unlink()
    with pytest.raises(ConfigError, match=r"bare has no rows: it has no rows\.jsonl"):
        read_run(path)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("summary.json", "{", r"summary\.json is not valid JSON"),
        ("summary.json", '{"tasks": [{"task": "gsm8k"}]}', "fields of a task: accuracy, commonest_opening, cut_off"),
        ("summary.json", "[]", "TypeError"),
        ("manifest.json", '{"protocol": {"model": "m"}}', "KeyError: 'format'"),
        ("manifest.json", '{"protocol": null}', "TypeError"),
    ],
)
def test_files_of_another_version_are_refused_by_name(
    make_run: MakeRun, rows_of: RowsOf, name: str, text: str, says: str
) -> None:
    path = make_run("odd", rows_of("gsm8k", 3, 1))
    (path / name).write_text(text)
    with pytest.raises(ConfigError, match=rf"odd was not written by this version .*{says}.*run its command again"):
        read_run(path)


def test_a_broken_row_is_named_when_it_is_read(make_run: MakeRun, rows_of: RowsOf) -> None:
    path = make_run("broken", rows_of("gsm8k", 3, 1))
    with (path / "rows.jsonl").open("a") as file:
        file.write("{}\n")
    run = read_run(path)
    with pytest.raises(ConfigError, match=r"rows\.jsonl line 4 is not a valid row"):
        list(run.rows())


def test_counts_that_do_not_add_up_are_refused(make_run: MakeRun, rows_of: RowsOf) -> None:
    path = make_run("edited", rows_of("gsm8k", 3, 1))
    summary = json.loads((path / "summary.json").read_text())
    summary["tasks"][0]["total"] = 4
    (path / "summary.json").write_text(json.dumps(summary))
    with pytest.raises(ConfigError, match="AssertionError: gsm8k"):
        read_run(path)


def test_folders_of_one_protocol_are_one_run_unless_they_share_a_task(make_run: MakeRun, rows_of: RowsOf) -> None:
    math, chat = make_run("math", rows_of("gsm8k", 4, 1)), make_run("chat", rows_of("ifbench", 6, 2))
    warm = make_run("warm", rows_of("gsm8k", 4, 1), temperature=1.0)
    joined, other = read_runs([math, warm, chat, math])
    assert joined.name == "math, chat" and other.name == "warm"
    assert [s.task for s in joined.summaries] == ["gsm8k", "ifbench"]
    assert len(list(joined.rows())) == 10
    with pytest.raises(ConfigError, match=r"math and .*again hold gsm8k under the same protocol; leave one out"):
        read_runs([math, make_run("again", rows_of("gsm8k", 9, 1))])
