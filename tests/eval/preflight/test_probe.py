"""The doctor on a probe, with a real server as judge; and on what is no configuration."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
import yaml

from eval.checks.judge_reachable import NOW
from eval.doctor import main

SERVER = runpy.run_path(str(Path(__file__).parent.parent / "client" / "judge_server.py"))
JudgeServer = SERVER["JudgeServer"]


@pytest.fixture
def diagnose(tiny_model, tmp_path, capsys):
    """(**changed settings) -> (exit status, finding by check)."""
    settings = {
        "model": str(tiny_model),
        "format": "smollm2",
        "tasks": {"pocket": {"limit": 2}},
        "answers": {"max_tokens": 4},
        "sampling": {"max_tokens": 4},
        "run_dir": str(tmp_path / "run"),
    }

    def run(**changes):
        path = tmp_path / "config.yaml"
        path.write_text(yaml.safe_dump(settings | changes))
        status = main(["--config", str(path), "--json"])
        told = json.loads(capsys.readouterr().out)
        assert told["command"] == "eval.probe"
        return status, {finding["check"]: finding for finding in told["findings"]}

    return run


def test_a_good_configuration_is_go(diagnose, tmp_path) -> None:
    status, found = diagnose()
    assert status == 0, found
    assert list(found) == [
        *("pins", "device", "model", "template", "kernels", "data pocket", "judge", "disk", "estimate")
    ]
    assert "tokens/s on this" in found["estimate"]["told"] and not (tmp_path / "run").exists()


def test_the_judge_of_a_server_is_asked_and_priced(diagnose, monkeypatch) -> None:
    monkeypatch.setitem(NOW, "request_s", 1.0)
    with JudgeServer() as server:
        judge = {"name": "openai", "model": "judge-1", "base_url": server.url, "api_key_variable": None}
        status, found = diagnose(judge=judge)
        assert len(server.requests) == 1
    assert status == 0 and found["judge"]["status"] == "pass"
    assert found["estimate"]["status"] == "warn" and "dollars unknown" in found["estimate"]["told"]
    status, found = diagnose(judge=judge | {"backoff_s": 0.001})
    assert status == 1 and found["judge"]["status"] == "fail"
    assert found["estimate"]["told"] == "needs judge"


def test_a_model_that_was_not_fetched_is_no_go(diagnose) -> None:
    status, found = diagnose(model="someone/no-such-model")
    assert status == 1 and "hf download someone/no-such-model" in found["model"]["todo"]
