"""The command: a dry run sends nothing, and without a key it says what to do."""

from __future__ import annotations

import json

import pytest

from eval.dashboard import main


@pytest.fixture(autouse=True)
def no_key(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))


def test_a_dry_run_prints_both(capsys) -> None:
    pytest.importorskip("wandb_workspaces", reason="pip install '.[dashboard]'")
    assert main(["--project", "p", "--tasks", "gsm8k", "--group", "g", "--dry-run"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.keys() == {"workspace", "report"}
    assert "eval/gsm8k/genuine" in json.dumps(told["report"]) and "ifbench" not in json.dumps(told)


def test_without_a_key_it_says_what_to_do(capsys) -> None:
    assert main(["--project", "p"]) == 2
    assert "wandb login" in capsys.readouterr().err


def test_without_the_package_it_says_what_to_do(capsys, monkeypatch) -> None:
    monkeypatch.setattr("eval.dashboard.find_spec", lambda name: None)
    assert main(["--project", "p", "--dry-run"]) == 2
    assert "pip install '.[dashboard]'" in capsys.readouterr().err
