"""The doctor on a sweep: what the cells share once, what belongs to a model for each."""

from __future__ import annotations

import json
from importlib.util import find_spec

import yaml

from eval.doctor import main


def test_each_model_is_looked_at(tiny_model, tmp_path, capsys) -> None:
    model = {"model": str(tiny_model), "format": "smollm2"}
    settings = {
        "models": {"one": model, "two": model | {"model": "models/none"}},
        "temperatures": [0.0, 1.0],
        "probe": {
            "tasks": {"pocket": {"limit": 2}},
            "answers": {"max_tokens": 4},
            "sampling": {"max_tokens": 4},
            "report_to": {"name": "wandb", "mode": "offline"},
        },
        "run_dir": str(tmp_path / "sweep"),
    }
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(settings))
    assert main(["--config", str(path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    found = {finding["check"]: finding["status"] for finding in told["findings"]}
    assert told["command"] == "eval.sweep" and found["data pocket"] == found["judge"] == "pass"
    assert found["tracker"] == ("pass" if find_spec("wandb") else "fail")
    assert found["template of one"] == found["estimate of one"] == "pass"
    assert found["model of two"] == "fail" and found["template of two"] == found["estimate of two"] == "not checked"
