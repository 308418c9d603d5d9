"""A written table against its rows: anything that was changed afterwards is found and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.model_comparison.recomputing import recompute
from eval.model_comparison.writing import Sources, write

MakeModel = Callable[..., Path]


@pytest.fixture
def out(make_model: MakeModel, tmp_path: Path) -> Path:
    """A written table of two runs."""
    runs = make_model("Base", ifbench=(30, 2, None)), make_model("SFT", ifbench=(30, 20, None))
    sources = Sources(runs)
    write(sources, sources.compare(), tmp_path / "out")
    return tmp_path / "out"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_what_was_not_changed_is_as_written(out: Path) -> None:
    found = recompute(out)
    assert found.differences == () and found.rows == 60
    tables = json.loads((out / "table2.json").read_text())
    assert found.cells == sum((len(table["columns"]) - 1) * len(table["rows"]) for table in tables)
    assert found.files == 6, "four renderings and two pages"


def test_a_changed_number_is_named_by_its_cell(out: Path) -> None:
    tables = json.loads((out / "table2.json").read_text())
    column = tables[0]["columns"].index("IFBench follow-up %")
    tables[0]["rows"][1][column]["value"] = 99.9
    tables[1]["rows"][6][1]["text"] = "99.9 [98.0, 100.0]"
    (out / "table2.json").write_text(json.dumps(tables, indent=1) + "\n")
    first, second = recompute(out).differences
    assert first == (
        "table2.json: Table 2: models side by side / SFT / IFBench follow-up %: written value 99.9, recomputed value "
        "66.6667"
    )
    assert second.startswith(
        "table2.json: Table 2, metric by metric / SFT, IFBench follow-up / % (paper): written '99.9 [98.0, 100.0]'"
    )


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("table2.md", "66.7", "76.7"),
        ("table2.csv", "66.6667", "76.6667"),
        ("table2.tex", "66.7", "76.7"),
        ("cells/1-SFT.ifbench.genuine.md", "|     yes |", "|      no |"),
    ],
)
def test_every_rendering_is_compared(out: Path, name: str, old: str, new: str) -> None:
    edit(out / name, old, new)
    (found,) = recompute(out).differences
    assert found.startswith(f"{name} line ") and old in found and new in found


def test_changed_rows_show_in_the_numbers_and_in_their_digest(out: Path) -> None:
    edit(out.parent / "runs" / "sft" / "rows.jsonl", '"genuine": true', '"genuine": false')
    found = recompute(out).differences
    assert found[0] == "../runs/sft: its rows have changed since the table was made"
    assert any("SFT / IFBench follow-up %: written '66.7" in line and "recomputed '63.3" in line for line in found)


def test_the_summary_of_a_run_plays_no_part(out: Path) -> None:
    edit(out.parent / "runs" / "sft" / "summary.json", '"successes": 20', '"successes": 21')
    assert recompute(out).differences == ()


def test_what_is_missing_or_no_table_is_said(out: Path) -> None:
    (out / "table2.tex").unlink()
    assert recompute(out).differences == ("table2.tex: missing",)
    (out / "table2.json").write_text("[]")
    assert any("written nothing, recomputed" in line for line in recompute(out).differences)
    (out / "table2.json").write_text("{")
    with pytest.raises(ConfigError, match=r"/out/table2\.json was not written by"):
        recompute(out)


def test_a_run_that_is_gone_or_unfinished_is_an_error(out: Path) -> None:
    (out.parent / "runs" / "sft" / "summary.json").unlink()
    with pytest.raises(ConfigError, match=r"is not finished: .*complete it with `python -m eval\.probe --config"):
        recompute(out)
