"""Table 2 on the page: where its numbers lead, and what is said where runs cannot stand side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from eval.finished_runs import read_runs
from eval.report import report
from eval.report_page.models import side_by_side

MakeRun = Callable[..., Path]


@pytest.fixture
def trio(make_run: MakeRun, rows_of: Any) -> list[Path]:
    """Base, SFT and RL on pocket; the folder of SFT has an odd name."""
    made = []
    for name, genuine in (("Base", 2), ("SFT", 20), ("RL", 9)):
        rows = rows_of("pocket_instructions", 30, genuine, model=f"model@{name}")
        rows += rows_of("pocket_conversations", 30, genuine, model=f"model@{name}", held_out=True)
        folder = "s f&t%20<b>" if name == "SFT" else name.lower()
        made.append(make_run(folder, rows, called=name, model=f"model@{name}"))
    return made


def test_numbers_lead_to_rows_and_names_to_manifests(trio: list[Path], read_page: Any, tmp_path: Path) -> None:
    out = tmp_path / "elsewhere" / "page.html"
    out.parent.mkdir()
    page = read_page(report(trio, out))
    assert "Models side by side" in page.text and "Labels of the user turns, pocket" not in page.text
    hrefs = [str(attributes["href"]) for name, attributes in page.elements if name == "a" and "href" in attributes]
    led = [(out.parent / unquote(href)).resolve() for href in hrefs if not href.startswith("#")]
    assert {path.relative_to(tmp_path / "runs") for path in led} == {
        Path(run.name) / name for run in trio for name in ("rows.jsonl", "manifest.json")
    }
    assert all(path.is_file() for path in led)
    assert not any(":" in href for href in hrefs), "nothing but a path"


def test_models_are_called_by_the_names_of_their_runs(trio: list[Path], read_page: Any) -> None:
    page = read_page(report(trio))
    assert [run["name"] for run in page.json("vocabulary")["runs"]] == ["Base", "SFT", "RL"]
    text = " ".join(page.text.split())
    assert "User turns of Base, SFT, RL" in text
    assert "SFT, pocket instructions follow-up 66.7 [48.8, 80.8] 30 0" in text


def test_the_cross_condition_is_found_among_the_runs(
    trio: list[Path], make_run: MakeRun, rows_of: Any, tmp_path: Path
) -> None:
    rows = []
    for row in rows_of("pocket_instructions", 30, 5, model="model@SFT"):
        query, answer, turn = row.messages
        rows.append(replace(row, messages=(query, replace(answer, by="model@Base"), turn)))
    cross = make_run("cross", rows, called="SFT", model="model@SFT", answers_from="model@Base")
    tables = side_by_side(read_runs([*trio, cross]), tmp_path).tables
    assert [table.title for table in tables] == [
        "Table 2: models side by side",
        "Table 2, metric by metric",
        "Cross condition: user turns on the answers of Base",
        "Answers that end in a question",
    ]
    verdicts = tables[1].columns[-2]
    assert verdicts.words and not verdicts.wide
    assert {row.cells[-2].head for row in tables[1].groups[0][1]} == {"no paper value"}


def test_runs_that_cannot_stand_side_by_side_are_told_why(make_run: MakeRun, rows_of: Any, read_page: Any) -> None:
    rows = rows_of("pocket_instructions", 30, 4)
    greedy, warm = make_run("greedy", rows), make_run("warm", rows, temperature=1.0)
    assert side_by_side(read_runs([greedy]), greedy).lacks == side_by_side(read_runs([greedy, warm]), greedy).lacks
    page = read_page(report([greedy, warm]))
    assert "Table 2, models side by side, is left out: it needs unperturbed runs of two models" in page.text
    other = make_run("other", rows, model="m@2", judge="local-2")
    lacks = side_by_side(read_runs([greedy, other]), greedy).lacks
    assert "m (other) was measured differently" in lacks and "\n" not in lacks
    assert "left out" not in read_page(report([greedy])).text.split("Paper tables")[0]
