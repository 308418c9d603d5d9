"""What the head of a report tells, and how it names its runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eval.finished_runs import read_runs
from eval.report_page.facts import facts_of, tag

MakeRun = Callable[..., Path]


def test_the_commits_of_all_sessions_are_told(make_run: MakeRun, rows_of: Any) -> None:
    path = make_run("run", rows_of("gsm8k", 2, 0))
    manifest = json.loads((path / "manifest.json").read_text())
    sessions = [{"started": "2026-01-02T03:04:05", "git": {"commit": "a" * 40, "dirty_sha256": None}}]
    sessions += [{"started": "2026-01-05T03:04:05", "git": {"commit": "b" * 40, "dirty_sha256": "c"}}] * 2
    (path / "manifest.json").write_text(json.dumps(manifest | {"sessions": sessions}))
    (told,) = facts_of(read_runs([path])).runs
    assert told.settings["code"] == f"{'a' * 12}, {'b' * 12} with changes"
    assert told.settings["made"] == "2026-01-02 to 2026-01-05"


def test_several_runs_share_what_is_equal_and_are_named_by_what_differs(make_run: MakeRun, rows_of: Any) -> None:
    rows = rows_of("gsm8k", 4, 1)
    paths = [
        make_run("a", rows),
        make_run("b", rows, temperature=1.0),
        make_run("c", rows, perturbation={"name": "truncate", "fraction": 0.5}),
        make_run("d", rows, answers_from="Other-1B@77"),
    ]
    facts = facts_of(read_runs(paths))
    assert [run.name.removeprefix("SmolLM2-135M-Instruct, ") for run in facts.runs] == [
        "T=0",
        "T=1",
        "T=0, truncate fraction 0.5",
        "T=0, answers_from Other-1B@77",
    ]
    assert facts.differing == ("user turns", "answers", "perturbation")
    assert facts.runs[3].settings["answers"] == "those of Other-1B@77"
    assert "model" in facts.shared and (facts.total, facts.judged) == (16, 16)


def test_runs_are_called_by_their_own_names_where_these_tell_them_apart(make_run: MakeRun, rows_of: Any) -> None:
    rows = rows_of("gsm8k", 2, 0)

    def names(*runs: tuple[str, str]) -> list[str]:
        paths = [make_run(model.replace("@", "-"), rows, called=name, model=model) for name, model in runs]
        return [run.name for run in facts_of(read_runs(paths)).runs]

    assert names(("Base", "m@0"), ("SFT", "model@1"), ("RL", "model@2")) == ["Base", "SFT", "RL"]
    assert names(("Base", "one@3"), ("Base", "two@4")) == ["one", "two"]
    runs = read_runs(
        [make_run("m-0", rows, called="Base", model="m@0"), make_run("x", rows, called="SFT", model="model@1")]
    )
    assert facts_of(runs).title == "User turns of Base, SFT" and facts_of(runs[:1]).title == "User turns of m"
    paths = [
        make_run("greedy", rows, called="B", model="x@1"),
        make_run("warm", rows, called="B", model="x@1", temperature=1),
    ]
    assert [run.name for run in facts_of(read_runs(paths)).runs] == ["B, T=0", "B, T=1"]


def test_runs_that_names_in_short_cannot_tell_apart_are_named_in_full(make_run: MakeRun, rows_of: Any) -> None:
    paths = [make_run(name, rows_of("gsm8k", 2, 0), model=f"Tiny@{name}") for name in ("0a", "0b")]
    first, second = facts_of(read_runs(paths)).runs
    assert first.name != second.name and "Tiny@0a" in first.name


def test_letters_go_on_after_z() -> None:
    assert [tag(number) for number in (0, 25, 26, 51, 52, 701, 702)] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]
