"""The doctor on data generation: go, and no-go if seeds, teacher or judge are not available."""

from __future__ import annotations

import json

import pytest
import yaml

from data_gen.generate_config import GenerateConfig
from data_gen.generation_parts import open_parts
from data_gen.preflight.run import estimate
from eval.config import validate
from eval.doctor import main

SETTINGS = {
    "name": "small",
    "conversations": 12,
    "seeds": {"written": {}},
    "leak_check": {"tasks": ["pocket"]},
}


def diagnose(tmp_path, capsys, **changes):
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(SETTINGS | {"out_dir": str(tmp_path / "small")} | changes))
    status = main(["--config", str(path), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["command"] == "data_gen.run"
    return status, {finding["check"]: finding for finding in told["findings"]}


def test_a_good_configuration_is_go(tmp_path, capsys) -> None:
    status, found = diagnose(tmp_path, capsys)
    assert status == 0, found
    assert list(found) == ["pins", "seeds", "teacher", "judge", "settings", "disk", "estimate"]
    assert found["settings"]["told"] == "12 conversations planned, compared with pocket"
    assert found["teacher"]["told"].endswith(": works without a server or a key")
    assert found["estimate"]["status"] == "pass" and found["estimate"]["told"].startswith("0.00 h, ")
    assert "$0.00 at most (about 50 conversations per second on one core)" in found["estimate"]["told"]
    assert not (tmp_path / "small").exists()


def test_the_price_of_a_paid_teacher_is_reported(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing")
    status, found = diagnose(tmp_path, capsys, teacher="openai")
    assert status == 0 and "$0.00" not in found["estimate"]["told"]
    assert "turns" in found["cache of teacher"]["told"]
    assert found["teacher"]["told"].endswith(": settings and key are present; no request was sent")
    assert "as long as the teacher's server takes" in found["estimate"]["told"]


def test_the_hours_of_a_judge_behind_a_server_are_unknown(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing")
    judge = {"name": "openai", "base_url": "http://127.0.0.1:9/v1"}
    config = validate(GenerateConfig, SETTINGS | {"out_dir": tmp_path / "small", "judge": judge})
    finding = estimate(open_parts(config))
    assert finding.status == "warn" and "as long as the judge's server takes" in finding.told


@pytest.mark.parametrize(
    ("changes", "check", "told"),
    [
        ({"teacher": "openai"}, "teacher", "OPENAI_API_KEY is not set"),
        ({"seeds": {"jsonl": {"file": "none.jsonl"}}}, "seeds", "none.jsonl"),
    ],
)
def test_what_would_break_the_run_is_no_go(tmp_path, capsys, monkeypatch, changes, check, told) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    status, found = diagnose(tmp_path, capsys, **changes)
    assert status == 1 and found[check]["status"] == "fail" and told in found[check]["told"]
    assert found["settings"]["status"] == "not checked"
