"""A run on a gated set: its text is in the rows of the run folder, and in nothing else that is written or said."""

from __future__ import annotations

import csv
from pathlib import Path

from eval import paper_tables, report
from eval.probe import main

SECRET = "zebrafish"
KEEP = {"rows.jsonl", "turns.jsonl"}
COLUMNS = ("Record ID", "Question", "Correct Answer", *(f"Incorrect Answer {number}" for number in (1, 2, 3)))


def test_only_the_rows_of_a_run_hold_gated_text(tiny_model: Path, tmp_path: Path, capfd) -> None:
    (tmp_path / "data" / "gpqa").mkdir(parents=True)
    for subset in ("main", "diamond"):
        with (tmp_path / "data" / "gpqa" / f"gpqa_{subset}.csv").open("w", newline="", encoding="utf-8") as file:
            cells = [[f"rec{row}", *(f"{SECRET} {row} {column}" for column in COLUMNS[1:])] for row in range(3)]
            csv.writer(file).writerows([COLUMNS, *cells])
    config, run = tmp_path / "probe.yaml", tmp_path / "run"
    config.write_text(
        f"model: {tiny_model}\nformat: smollm2\nrun_dir: {run}\ndata_dir: {tmp_path / 'data'}\n"
        "answers: {max_tokens: 4}\nsampling: {max_tokens: 4}\ntasks: {gpqa: {subset: both}}\n"
        "engine: {name: transformers, device: cpu}\n"
    )
    assert main(["--config", str(config)]) == 0
    assert paper_tables.main([str(run), "--out", str(tmp_path / "paper")]) == 0
    assert report.main([str(run), "--out", str(tmp_path / "report.html")]) == 0
    written = [path for path in tmp_path.rglob("*") if path.is_file() and tmp_path / "data" not in path.parents]
    assert {path.name for path in written if SECRET in path.read_text("utf-8", "replace")} == KEEP
    assert (tmp_path / "report.html") in written and (run / "table2.md") in written
    assert SECRET not in "".join(capfd.readouterr())
    assert report.main([str(run), "--out", str(tmp_path / "private.html"), "--allow-gpqa-text"]) == 0
    assert SECRET in (tmp_path / "private.html").read_text("utf-8")
