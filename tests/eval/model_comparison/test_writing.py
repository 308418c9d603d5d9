"""The written files: links lead to rows and manifests, pages hold ids and no text, nothing of a run is overwritten."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.model_comparison.writing import SOURCES, Sources, read_sources, render, rows_digest, write

MakeModel = Callable[..., Path]
MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


def written(folder: Path, *runs: Path) -> list[Path]:
    sources = Sources(runs)
    return write(sources, sources.compare(), folder)


def links(path: Path) -> list[Path]:
    """Where the links of a markdown file lead, as a markdown reader sees them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text())
    inside = (child for token in tokens for child in token.children or [] if child.type == "link_open")
    return [(path.parent / unquote(str(link.attrs["href"]))).resolve() for link in inside]


def test_every_cell_leads_to_its_rows_and_their_manifest(make_model: MakeModel, tmp_path: Path) -> None:
    base = make_model("Base", folder="a (b)%20", gsm8k=(9, 1, 5), ifbench=(6, 1, None))
    sft = make_model("SFT", gsm8k=(9, 4, 3), ifbench=(6, 4, None))
    out = tmp_path / "made here"
    written(out, base, sft)
    pages = links(out / "table2.md")
    assert len(pages) == 8 and len(set(pages)) == 4, "in both tables; no cell of a task that was not run"
    for page in pages:
        led = links(page)
        runs = [base] if "0-Base" in page.name else [sft, base]
        assert led == [run / name for run in runs for name in ("rows.jsonl", "manifest.json")]
        assert all(target.is_file() for target in (page, *led))


def test_a_page_has_each_row_with_its_line_and_outcomes(make_model: MakeModel, tmp_path: Path) -> None:
    base, sft = make_model("Base", ifbench=(3, 1, None)), make_model("SFT", ifbench=(4, 2, None))
    written(tmp_path / "out", base, sft)
    text = (tmp_path / "out" / "cells" / "1-SFT.ifbench.genuine.md").read_text()
    rows = [re.split(r" +\| +", line.strip("| ")) for line in text.splitlines() if re.match(r"\| [0-9a-f]{16} ", line)]
    ids = [json.loads(line)["id"] for line in (sft / "rows.jsonl").read_text().splitlines()]
    assert rows == [
        [ids[0], "1", "ok", "genuine_followup", "yes", "1", "yes"],
        [ids[1], "2", "ok", "generic_followup", "yes", "2", "no"],
        [ids[2], "3", "ok", "previous_turn_restate", "no", "3", "no"],
        [ids[3], "4", "ok", "previous_turn_restate", "no", "\u2014", "\u2014"],
    ]


def test_no_text_of_a_dialogue_is_written(make_run: MakeRun, rows_of: RowsOf, tmp_path: Path) -> None:
    runs = []
    for name in ("Base", "SFT"):
        rows = rows_of("gpqa_diamond", 4, 2, model=f"m@{name}", turn="the spin of the graviton")
        gated = [replace(row, meta={"gated": True}) for row in rows]
        runs.append(make_run(name, gated, called=name, model=f"m@{name}"))
    paths = written(tmp_path / "out", *runs)
    assert len(paths) > 4
    for path in paths:
        text = path.read_text()
        assert "graviton" not in text and "query" not in text, path


def test_hostile_names_stay_names(make_model: MakeModel, tmp_path: Path) -> None:
    evil = "../../x](http://example.invalid) <script>\u202e"
    base = make_model("Base", ifbench=(3, 1, None))
    files = written(tmp_path / "out", base, make_model(evil, folder="evil", ifbench=(3, 1, None)))
    assert all((tmp_path / "out") in path.parents for path in files)
    assert all(path.is_file() for path in links(tmp_path / "out" / "table2.md"))
    assert len(links(tmp_path / "out" / "table2.md")) == 4


def test_a_run_folder_is_not_written_into(make_model: MakeModel, tmp_path: Path) -> None:
    base = make_model("Base", ifbench=(3, 1, None))
    before = sorted(base.iterdir())
    with pytest.raises(ConfigError, match="is a run folder, whose own table would be overwritten"):
        written(base, base)
    assert sorted(base.iterdir()) == before
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="can't be written"):
        written(tmp_path / "file" / "out", base)


def test_sources_come_back_and_move_with_their_runs(make_model: MakeModel, tmp_path: Path) -> None:
    runs = (make_model("Base", ifbench=(3, 1, None)), make_model("SFT", ifbench=(3, 2, None)))
    out = tmp_path / "runs" / "table"
    files = written(out, *runs)
    assert files[-1] == out / SOURCES, "last: where it is, the table is whole"
    made = {path.relative_to(out): path.read_bytes() for path in files}
    shutil.move(tmp_path / "runs", tmp_path / "moved")
    there = tmp_path / "moved" / "table"
    sources, digests = read_sources(there)
    assert [path.resolve() for path in sources.runs] == [tmp_path / "moved" / name for name in ("base", "sft")]
    assert digests == {"../base": rows_digest(tmp_path / "moved" / "base"), "../sft": rows_digest(sources.runs[1])}
    for name, text in render(sources.compare(), there).items():
        assert made[Path(name)] == text.encode(), name


@pytest.mark.parametrize("text", ["{", "[]", '{"runs": ["x"]}', '{"runs": 3, "cross": [], "force": false}'])
def test_sources_of_another_kind_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"no table in .*table2\.sources\.json can't be read; make it with"):
        read_sources(tmp_path)
    (tmp_path / SOURCES).write_text(text)
    with pytest.raises(ConfigError, match=r"was not written by `eval\.table2`"):
        read_sources(tmp_path)
