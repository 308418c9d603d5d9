"""Probes, tables and reports tell a tracker their rates and files, and no text of a dialogue."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from eval import report, table2
from eval.config import ConfigError, Plugin
from eval.finished_runs import read_run
from eval.probe_config import ProbeConfig
from eval.report_page import page
from eval.report_page.dialogues import Limits
from eval.summary import summarise
from eval.table import Cell, Table
from eval.tracked_results import metrics_of, report_probe

pytest.importorskip("wandb")
READER = runpy.run_path(str(Path(__file__).parent / "trackers" / "wandb_file.py"))
OfflineRuns = READER["OfflineRuns"]


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "staging"))


@pytest.fixture
def told(make_run, rows_of) -> Path:
    """The folder of a finished probe, told to wandb."""
    folder = make_run("base", rows_of("gsm8k", 8, 2, right=4), temperature=0.7)
    report_to = Plugin(name="wandb", project="p", group="table2")
    config = ProbeConfig(
        name="Base", model="models/x", format="smollm2", tasks={"pocket": {}}, run_dir=folder, report_to=report_to
    )
    run = read_run(folder)
    tables = [Table("Table 2", ("model", "genuine"), ((Cell("Base"), Cell("25.0")),))]
    report_probe(config, folder, run.protocol, run.summaries, tables, {"/data/gsm8k/test.jsonl": "ef" * 32})
    return folder


def test_a_probe_tells_its_rates_over_its_temperature(told) -> None:
    runs = OfflineRuns(told)
    (run,) = runs.runs
    assert (run.job_type, run.run_group, run.display_name) == ("eval", "table2", "Base")
    (line,) = [line for line in runs.history if "eval/gsm8k/genuine" in line]
    assert line["eval/temperature"] == 0.7 and runs.axes["*"] == "eval/temperature"
    assert (line["eval/gsm8k/genuine"], line["eval/gsm8k/specific"], line["eval/gsm8k/accuracy"]) == (0.25, 0.125, 0.5)
    assert line["eval/gsm8k/labels/previous_turn_restate"] == 0.75
    assert {"eval/labels/nrows", "table2/nrows"} <= runs.metrics
    assert runs.used == {"model-0123", "dataset-efefefefefef"}
    assert {name.split("-")[0] for name in runs.made} == {"rows", "eval"}


def test_no_text_of_a_dialogue_is_sent(told) -> None:
    sent = b"".join(path.read_bytes() for path in OfflineRuns(told).files)
    assert b"gsm8k query" not in sent and b"rows.jsonl" in sent  # where they are, and not what they say


@pytest.mark.parametrize(("command", "name"), [(table2, "table2"), (report, "report")])
def test_tables_and_reports_are_kept_with_the_rows_they_are_from(told, tmp_path, command, name, capsys) -> None:
    out = tmp_path / "out"
    out.mkdir()
    where = out / "page.html" if name == "report" else out
    given = [str(told), "--out", str(where), "--report-to", "wandb", "--project", "p", "--group", "g"]
    assert command.main(given) == 0, capsys.readouterr().err
    runs = OfflineRuns(out / f".{name}")
    (run,) = runs.runs
    assert (run.job_type, run.run_group, run.display_name) == ("eval", "g", name)
    assert runs.used == {one for one in OfflineRuns(told).made if one.startswith("rows-")}
    (files,) = [artifact for artifact in runs.artifacts if artifact.type == "eval_files"]
    names = {entry.path for entry in files.manifest.contents}
    assert ("page.html" if name == "report" else "table2.json") in names


def test_a_long_report_is_kept_with_all_its_parts_where_its_links_lead(told, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(page, "Limits", lambda: Limits(rows=3))
    out = tmp_path / "out"
    out.mkdir()
    assert report.main([str(told), "--out", str(out / "page.html"), "--report-to", "wandb"]) == 0
    (files,) = [one for one in OfflineRuns(out / ".report").artifacts if one.type == "eval_files"]
    kept = {entry.path for entry in files.manifest.contents}
    assert kept == {"page.html", *(f"page_parts/{path.name}" for path in (out / "page_parts").iterdir())}
    assert len(kept) > 1


@pytest.mark.parametrize("error", [ConfigError("no server"), RuntimeError("torn")])
def test_finished_results_that_cannot_be_reported_are_a_warning(told, tmp_path, monkeypatch, caplog, error) -> None:
    def refuse(*given: object) -> None:
        raise error

    monkeypatch.setattr("eval.tracked_results.open_tracker", refuse)
    config = ProbeConfig(
        model="models/x", format="smollm2", tasks={"pocket": {}}, run_dir=told, report_to=Plugin(name="wandb")
    )
    run = read_run(told)
    report_probe(config, told, run.protocol, run.summaries, [], {})
    assert table2.main([str(told), "--out", str(tmp_path / "out"), "--report-to", "wandb"]) == 0
    warned = [message for message in caplog.messages if message.startswith("not reported to wandb: ")]
    assert len(warned) == 2 and all("run the same command again" in message for message in warned)
    assert str(error) in warned[0] and type(error).__name__ in warned[0]


def test_tables_with_cross_runs_use_the_rows_of_all(told, make_run, rows_of, tmp_path) -> None:
    answers = "SmolLM2-135M-Instruct@0123"
    cross = make_run("cross", rows_of("gsm8k", 8, 3, right=4), model="m@SFT", answers_from=answers, temperature=0.7)
    out = tmp_path / "out"
    given = [str(told), "--cross", str(cross), "--out", str(out), "--force", "--report-to", "wandb", "--project", "p"]
    assert table2.main(given) == 0
    assert len(OfflineRuns(out / ".table2").used) == 2


def test_nothing_is_left_where_nobody_is_told(make_run, rows_of, tmp_path) -> None:
    folder = make_run("base", rows_of("gsm8k", 4, 1, right=2))
    assert table2.main([str(folder), "--out", str(tmp_path / "out")]) == 0
    assert not (tmp_path / "out" / ".table2").exists()


def test_what_was_not_measured_stays_unknown(rows_of) -> None:
    (figures,) = metrics_of(summarise(rows_of("coval", 4, 4, held_out=True))).values()
    assert figures["accuracy"] is None and figures["genuine"] == 1.0
