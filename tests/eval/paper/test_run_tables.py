"""Which tables are built of runs, and what is said of one that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eval.dialogue import Dialogue
from eval.finished_runs import read_runs
from eval.paper import run_tables
from eval.tables import instruction_following

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


def test_tables_are_asked_for_by_number_and_then_by_name() -> None:
    assert run_tables.names() == ("1", "3", "4", "5", "6", "instruction_following")


def test_the_chosen_tables_alone_are_built_in_their_order(make_run: MakeRun, rows_of: RowsOf) -> None:
    runs = read_runs([make_run("run", rows_of("gsm8k", 6, 1, right=3))])
    built = run_tables.build(runs, ["5", "1"])
    assert [(one.file, one.title, len(one.tables)) for one in built] == [
        ("table5", "Table 5", 1),
        ("table1", "Table 1", 0),
    ]
    assert built[0].lacks == "" and built[1].lacks.startswith("it needs a run with a perturbation")


def test_a_table_whose_grader_lacks_its_files_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(runs: object) -> list:
        raise FileNotFoundError("NLTK's punkt_tab not found")

    monkeypatch.setattr(instruction_following, "build", build)
    (one,) = run_tables.build([], ["instruction_following"])
    assert (one.title, one.tables, one.lacks) == ("Instruction following", (), "NLTK's punkt_tab not found")
