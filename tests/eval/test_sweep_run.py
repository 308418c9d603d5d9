"""A whole sweep on a tiny random model: what it makes, that nothing is made twice, that it goes on where it was."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval.dialogue import Dialogue
from eval.engines.transformers import Engine
from eval.judges.local import Judge
from eval.rows import read_rows
from eval.sweep import main
from eval.sweep_board import Board

CELLS = ("full-t0", "full-t1", "asked-t0", "asked-t1")
ROWS, QUESTIONS = 6, 4
"""Of the pocket tasks with a limit of two: two problems, two instructions and two conversations."""
SAMPLED = 1 + QUESTIONS
"""Prompts that measure the speed: one that reads the weights, and a short answer to each question."""
FILES = ("rows.jsonl", "turns.jsonl", "table2.json")


@pytest.fixture(scope="module")
def calls() -> Iterator[Counter[str]]:
    """How many prompts the engine and how many dialogues the judge was given."""
    counted = Counter[str]()

    def counting(what: str, method: Callable) -> Callable:
        def wrapped(self: object, given: Iterable, *rest: object) -> object:
            def each() -> Iterable:
                for one in given:
                    counted[what] += 1
                    yield one

            return method(self, each(), *rest)

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "generate", counting("model", Engine.generate))
        patch.setattr(Judge, "judge", counting("judge", Judge.judge))
        yield counted


Sweep = Callable[..., tuple[int, Counter[str]]]


@pytest.fixture(scope="module")
def sweep(tiny_model: Path, calls: Counter[str], tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """(folder, more arguments) -> the exit status of the sweep into that folder, and what it asked for."""

    def run(folder: Path, *arguments: str) -> tuple[int, Counter[str]]:
        config = {
            "run_dir": str(folder),
            "models": {"tiny-1.0": {"model": str(tiny_model), "format": "smollm2"}},
            "temperatures": [0.0, 1.0],
            "perturbations": {"full": None, "asked": "append_question"},
            "probe": {
                "engine": {"name": "transformers", "device": "cpu"},
                "answers": {"max_tokens": 6},
                "sampling": {"max_tokens": 5},
                "tasks": {"pocket": {"limit": 2}},
            },
        }
        path = tmp_path_factory.mktemp("config") / "sweep.yaml"
        path.write_text(yaml.safe_dump(config, sort_keys=False))
        calls.clear()
        return main(["--config", str(path), *arguments]), Counter(calls)

    return run


@dataclass(frozen=True)
class Whole:
    """A sweep that nothing disturbed: its folder, what it asked for, and what it printed."""

    folder: Path
    asked: Counter[str]
    printed: str


@pytest.fixture(scope="module")
def whole(sweep: Sweep, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole") / "sweep"
    with redirect_stdout(io.StringIO()) as out:
        status, asked = sweep(folder)
    assert status == 0
    return Whole(folder, asked, out.getvalue())


def made(folder: Path) -> dict[str, bytes]:
    """The content of what a finished sweep holds: the same for the same sweep."""
    files = [f"tiny-1.0/{cell}/{name}" for cell in CELLS for name in FILES]
    return {name: (folder / name).read_bytes() for name in [*files, "paper/table1.csv", "paper/table4.csv"]}


def rows(folder: Path, cell: str) -> list[Dialogue]:
    return list(read_rows(folder / "tiny-1.0" / cell / "rows.jsonl"))


def test_a_sweep_into_the_current_directory_is_refused(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--config", str(repository / "configs/demo/table2.yaml"), "--run-dir", ""]) == 2
    assert "is the current directory; choose a folder of its own" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_dry_run_measures_the_speed_and_makes_nothing(sweep: Sweep, tmp_path: Path) -> None:
    assert sweep(tmp_path / "dry", "--dry-run") == (0, {"model": SAMPLED})
    assert not (tmp_path / "dry").exists()


def test_a_sweep_makes_every_cell_on_answers_that_are_made_once(whole: Whole) -> None:
    assert whole.asked == {"model": SAMPLED + QUESTIONS + ROWS * len(CELLS), "judge": ROWS * len(CELLS)}
    answers = {cell: {row.id: row.messages[-2].text for row in rows(whole.folder, cell)} for cell in CELLS}
    assert answers["full-t0"] == answers["full-t1"] != answers["asked-t0"] == answers["asked-t1"]
    assert all(text.endswith("What do you think?") for text in answers["asked-t0"].values())
    assert re.search(r"all +24 +24 +", whole.printed)
    assert "Table 1: answers with a question appended" in whole.printed
    assert "Instruction following: left out; it needs" in whole.printed
    assert f"report: {whole.folder / 'report.html'}" in whole.printed and (whole.folder / "report.html").is_file()


def test_a_warm_sweep_asks_neither_the_model_nor_the_judge(
    whole: Whole, sweep: Sweep, capsys: pytest.CaptureFixture[str]
) -> None:
    before = made(whole.folder)
    assert sweep(whole.folder) == (0, {})
    assert made(whole.folder) == before
    assert re.search(r"all +24 +0 +0 +0:00:00 +0\.00", capsys.readouterr().out)


def test_a_sweep_that_is_stopped_between_cells_goes_on(
    whole: Whole, sweep: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish, finished = Board.done, []

    def stop_after_two(board: Board, name: str, *rest: Any) -> None:
        finish(board, name, *rest)
        finished.append(name)
        if len(finished) == 2:
            raise KeyboardInterrupt

    folder = tmp_path / "stopped"
    monkeypatch.setattr(Board, "done", stop_after_two)
    assert sweep(folder)[0] == 130
    assert sorted(path.name for path in (folder / "tiny-1.0").iterdir()) == sorted(CELLS[:2])
    assert sweep(folder) == (0, {"model": ROWS * 2, "judge": ROWS * 2}), "the two missing cells, on the stored answers"
    assert made(folder) == made(whole.folder)
