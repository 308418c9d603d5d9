"""Table 7: its layout, and the paper's numbers beside ours or by themselves."""

from __future__ import annotations

import json

import pytest

from eval.dialogue import Failure, Judgement
from eval.panel_agreement import RatedPanel
from eval.paper.published import read_paper
from eval.table import Table
from eval.table_formats import to_json
from eval.tables.table7 import _paper_name, build

NANO, MINI = "openai-gpt-5.4-nano-2026-03-17-0a1b2c3d", "openai-gpt-5.4-mini-2026-03-17-0a1b2c3d"


def panel(*judges: str, n: int = 40) -> RatedPanel:
    """Judges that differ on every fifth row."""
    results = {}
    for place, judge in enumerate(judges):
        genuine = [(row % 3 == 0) != (place and row % 5 == 0) for row in range(n)]
        results[judge] = tuple(
            Judgement("genuine_followup" if yes else "new_task_prompt", bool(yes), judge) for yes in genuine
        )
    return RatedPanel(tuple(map(str, range(n))), tuple(map(str, range(n))), results)


def row(table: Table, name: str) -> dict[str, str]:
    (cells,) = [cells for cells in table.rows if cells[0].text == name]
    return {column: cell.text for column, cell in zip(table.columns, cells, strict=True)}


def test_the_papers_pair_stands_beside_the_papers_value() -> None:
    table, _ = build(panel(NANO, MINI))
    full = row(table, f"full panel, {NANO} and {MINI}")
    assert full["N"] == "40 (7815)" and full["genuine agreement %"].startswith("80.0 [")
    assert full["genuine agreement %"].endswith("] (81.7)") and full["label kappa"].endswith("] (0.396)")
    assert full["genuine % of each"] == "35.0 and 40.0"
    names = [cells[0].text for cells in table.rows if cells[0].text.startswith("paper: ")]
    assert names == ["paper: balanced, nano and gpt-5.4", "paper: balanced, mini and gpt-5.4"]
    swapped, _ = build(panel(MINI, NANO))
    assert row(swapped, f"balanced, {MINI} and {NANO}")["genuine kappa"].endswith("(0.373)")


def test_judges_that_the_paper_has_not_stand_above_all_its_rows() -> None:
    table, judges = build(panel("local-1-a", "grounding-1", "third-1"))
    names = [cells[0].text for cells in table.rows]
    assert names[:3] == [
        f"full panel, {pair}"
        for pair in ("local-1-a and grounding-1", "local-1-a and third-1", "grounding-1 and third-1")
    ]
    assert names[12:] == [f"paper: {name}" for name in read_paper().tables["table7"].rows]
    assert row(table, "paper: balanced, mini and gpt-5.4")["genuine kappa"] == "(0.722)"
    assert "(" not in row(table, names[0])["N"]
    assert "8 of 40 rows" in table.notes[-1]
    assert [cells[0].text for cells in judges.rows] == ["local-1-a", "grounding-1", "third-1"]
    assert json.loads(to_json([table]))[0]["rows"][0][1]["value"] == 40


def test_failures_are_told_by_kind_and_an_undefined_kappa_in_words() -> None:
    failed = (Failure("judge", "budget"), Failure("judge", "budget"), Failure("judge", "refusal"))
    ratings = tuple(Judgement("other", False, "a") for _ in range(10))
    rated = RatedPanel(tuple("0123456789"), tuple("0123456789"), {"a": ratings, "b": (*ratings[3:], *failed)})
    table, judges = build(rated)
    assert row(judges, "b")["failed"] == "3 (budget 2, refusal 1)"
    full = row(table, "full panel, a and b")
    assert (full["N"], full["unjudged"], full["genuine kappa"], full["label kappa"]) == (
        "7",
        "3",
        "undefined",
        "undefined",
    )


@pytest.mark.parametrize(
    ("judge", "name"),
    [
        (NANO, "nano"),
        ("openai-gpt-5.4-2026-03-05-0a1b2c3d", "gpt-5.4"),
        ("openai-gpt-5.4-mini-2026-03-17-low-0a1b2c3d", "mini"),
        ("openai-gpt-5.4-mini-2026-03-17@localhost:8000-0a1b2c3d", None),
        ("openai-gpt-5.5-mini-2026-03-17-0a1b2c3d", None),
        ("local-1-0a1b2c3d", None),
    ],
)
def test_only_the_papers_own_models_have_its_names(judge: str, name: str | None) -> None:
    assert _paper_name(judge) == name
