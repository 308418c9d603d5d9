"""The rows of each task, or which file is missing and how to get it."""

from __future__ import annotations

from eval.checks.finding import examine
from eval.checks.task_data import TaskData
from eval.probe_config import ProbeConfig


def data(tmp_path, **tasks) -> TaskData:
    return TaskData(ProbeConfig(model="m", format="smollm2", run_dir=tmp_path, data_dir=tmp_path, tasks=tasks))


def test_rows_are_counted_and_shared(tmp_path) -> None:
    found = data(tmp_path, pocket={}, arithmetic={"limit": 5})
    findings = dict(examine(found.checks))
    assert found.names == ("data pocket", "data arithmetic")
    assert findings["data arithmetic"].told == "5 rows" and findings["data pocket"].status == "pass"
    assert len(found.all.dialogues) == 5 + int(findings["data pocket"].told.split()[0])


def test_a_gated_set_is_named_with_the_commands_that_get_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    finding = dict(examine(data(tmp_path, gpqa={"subset": "diamond"}, pocket={}).checks))["data gpqa"]
    assert finding.status == "fail" and "gpqa_diamond.csv" in finding.told
    assert (
        "gated" in finding.todo and "`hf auth login`" in finding.todo and "hf download Idavidrein/gpqa" in finding.todo
    )
