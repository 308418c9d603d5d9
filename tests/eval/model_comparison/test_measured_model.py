"""A model read from its run: its numbers are those of its rows; names are told apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.finished_runs import read_run
from eval.model_comparison.measured_model import answers_of_another, file_name, names_of, read_distinct, read_model
from eval.summary import summarise

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


def test_numbers_come_from_the_rows_whatever_the_summary_says(make_run: MakeRun, rows_of: RowsOf) -> None:
    rows = rows_of("gsm8k", 10, 4, right=6)
    path = make_run("run", rows)
    told = json.loads((path / "summary.json").read_text())
    told["tasks"][0]["genuine"]["successes"] = 9
    (path / "summary.json").write_text(json.dumps(told))
    model = read_model(read_run(path), "Base")
    assert model.summaries == tuple(summarise(rows)) and model.tasks == {"gsm8k"}
    assert [str(model.places[row.id]) for row in rows[:2]] == [f"{path}/rows.jsonl:1", f"{path}/rows.jsonl:2"]


def test_a_row_that_was_made_again_stands_where_it_was_written_last(make_run: MakeRun, rows_of: RowsOf) -> None:
    rows = rows_of("gsm8k", 3, 1)
    path = make_run("run", [*rows, rows[0]])
    assert read_model(read_run(path), "Base").places[rows[0].id].line == 4


def test_a_row_that_is_not_finished_is_named(make_run: MakeRun, rows_of: RowsOf) -> None:
    path = make_run("run", rows_of("gsm8k", 2, 1))
    lines = (path / "rows.jsonl").read_text().splitlines()
    (path / "rows.jsonl").write_text(lines[0] + "\n" + json.dumps(json.loads(lines[1]) | {"judgement": None}) + "\n")
    with pytest.raises(ConfigError, match=r"run: gsm8k row \w+ has neither a judgement nor a failure"):
        read_model(read_run(path), "Base")


def test_runs_are_called_as_configured_else_by_model_and_by_folder_where_alike(
    make_run: MakeRun, rows_of: RowsOf
) -> None:
    rows = rows_of("gsm8k", 2, 1)
    named = read_run(make_run("a", rows, called="SFT", model="model@1"))
    bare = read_run(make_run("b", rows, model="Tiny-1B@2"))
    again = read_run(make_run("c", rows, called="SFT", model="model@3"))
    assert names_of([named, bare]) == ["SFT", "Tiny-1B"]
    assert names_of([named, bare, again]) == ["SFT (a)", "Tiny-1B", "SFT (c)"]
    with pytest.raises(ConfigError, match=r"two runs have the name SFT \(a\); give each its own `name`"):
        names_of([named, named])


def test_the_same_folder_twice_is_refused(make_run: MakeRun, rows_of: RowsOf) -> None:
    path = make_run("a", rows_of("gsm8k", 2, 1))
    with pytest.raises(ConfigError, match=r"runs/a is given twice; give each run once"):
        read_distinct([path, path.parent / "." / "a"])


def test_one_protocol_in_two_folders_is_one_model_or_a_clash(make_run: MakeRun, rows_of: RowsOf) -> None:
    math, chat = make_run("math", rows_of("gsm8k", 2, 1)), make_run("chat", rows_of("ifbench", 2, 1))
    (run,) = read_distinct([math, chat])
    model = read_model(run, "Base")
    assert model.tasks == {"gsm8k", "ifbench"}
    assert {place.path.parent.name for place in model.places.values()} == {"math", "chat"}
    with pytest.raises(ConfigError, match="hold gsm8k under the same protocol; leave one out"):
        read_distinct([math, make_run("again", rows_of("gsm8k", 2, 1))])


def test_answers_of_the_same_model_are_its_own(make_run: MakeRun, rows_of: RowsOf) -> None:
    rows = rows_of("gsm8k", 2, 1)
    assert not answers_of_another(read_run(make_run("own", rows, model="m@1", answers_from="m@1")))
    assert answers_of_another(read_run(make_run("cross", rows, model="m@1", answers_from="m@2")))


@pytest.mark.parametrize(
    ("name", "safe"),
    [("SFT (a)", "SFT_a"), ("../../etc", "etc"), ("Qwen3.5-2B", "Qwen3.5-2B"), ("\u4f60/\x00", "model"), ("", "model")],
)
def test_a_name_in_a_file_s_name_leads_nowhere(name: str, safe: str) -> None:
    assert file_name(name) == safe
    assert len(file_name(name * 200)) <= 60
