"""The doctor on an RL run: go, and no-go if the judge or the prompts would end the run."""

from __future__ import annotations

import importlib.metadata
import json
import re
from types import SimpleNamespace

import pytest
import yaml

from eval.doctor import main
from eval.serving.vllm_version import WINDOW
from train.preflight.rl import left_out


@pytest.fixture
def diagnose(tiny_folders, tmp_path, capsys, monkeypatch):
    """(**changed settings) -> (exit status, finding by check)."""
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    settings = {
        "model": str(tiny_folders["llama"]),
        "format": "smollm2",
        "prompts": {"arithmetic": {"limit": 4}},
        "answer_tokens": 8,
        "user_tokens": 8,
        "max_episodes": 16,
        "rewards": {"gsm8k": {}, "followup": {}},
        "judge": "grounding",
        "lora": {"r": 2},
        "trl": {"per_device_train_batch_size": 8, "num_generations": 4, "save_steps": 1},
        "probe": {"tasks": {"pocket": {"limit": 2}}},
        "run_dir": str(tmp_path / "run"),
    }

    def run(*options: str, **changes) -> tuple[int, dict[str, SimpleNamespace]]:
        path = tmp_path / "config.yaml"
        path.write_text(yaml.safe_dump(settings | changes))
        status = main(["--config", str(path), "--json", *options])
        told = json.loads(capsys.readouterr().out)
        assert told["command"] == "train.rl"
        return status, {finding["check"]: SimpleNamespace(**finding) for finding in told["findings"]}

    return run


def test_a_good_configuration_is_go(diagnose) -> None:
    status, found = diagnose()
    assert status == 0, found
    assert {"prompts", "judge that rewards", "judge that evaluates", "settings", "mask", "adapters"} <= found.keys()
    assert found["settings"].told.startswith("2 steps of 8 episodes")
    assert "⟦the answer<|im_end|>⟧\n" in found["mask"].shown and found["mask"].shown.endswith("⟦the user turn⟧")
    assert found["adapters"].status == "pass"
    assert re.match(r"\d+\.\d\d h without judging \(at most 0\.07 h\) and probes, ", found["estimate"].told)
    assert "training and sampling at speeds measured on this" in found["estimate"].told


@pytest.mark.parametrize(
    ("changes", "check", "told"),
    [
        ({"judge": "local"}, "settings", "would reward and evaluate"),
        ({"answer_tokens": 4000}, "settings", "exceed the model's context of 512"),
        ({"max_episodes": 1}, "settings", "max_episodes is 1, and a step has 8"),
        ({"trl": {"use_vllm": True}}, "pins", f"userturn needs vllm{WINDOW}"),
        ({"parallel": "zero3"}, "pins", "userturn needs deepspeed=="),
        ({"prompts": {"dialogues": {"path": "none.jsonl"}}}, "prompts", "none.jsonl"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_would_break_the_run_is_no_go(diagnose, monkeypatch, changes, check, told) -> None:
    installed = [one for one in importlib.metadata.distributions() if one.metadata["Name"] != "deepspeed"]
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: installed)
    status, found = diagnose(**changes)
    assert status == 1
    assert found[check].status == "fail" and told in found[check].told


def test_what_the_hours_leave_out_is_said() -> None:
    """vLLM samples at a speed that is not measured; two rollouts of a step are judged for up to judge_s each."""
    arguments = SimpleNamespace(
        max_steps=15, gradient_accumulation_steps=8, num_iterations=1, steps_per_generation=4, world_size=2
    )
    parts = SimpleNamespace(arguments=arguments, config=SimpleNamespace(judge_s=120.0), probe=None)
    assert left_out(parts, SimpleNamespace(seconds_per_sampled_token=None)) == ("sampling", "judging (at most 1.00 h)")
    assert left_out(parts, SimpleNamespace(seconds_per_sampled_token=0.1)) == ("judging (at most 1.00 h)",)


def test_groups_may_span_processes(diagnose) -> None:
    status, found = diagnose("--processes", "8", global_batch_size=16)
    assert status == 0, found
    assert found["settings"].told.startswith("1 steps of 16 episodes (8 processes x 2 rows x 1 pass; ")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "rewards, another judge evaluates"),
        ({"judge": "local", "allow_same_judge": True}, "rewards, the same judge evaluates"),
        ({"probe": None}, "rewards, and there is no probe"),
    ],
)
def test_who_evaluates_is_said(diagnose, changes, told) -> None:
    _, found = diagnose(**changes)
    assert found["settings"].told.endswith(told)
