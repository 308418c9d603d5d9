"""The doctor on a fine-tuning run: a good configuration is go, and each problem is a no-go under its own name."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
import shutil
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from eval.checks.finding import Finding
from eval.checks.judge_reachable import NOW
from eval.config import validate
from eval.doctor import main
from train.checks.trained_model import TrainedModel
from train.preflight.sft import estimate
from train.sft_config import SftConfig
from train.sft_parts import open_parts

GROWING = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + ' of ' + messages|length|string + '\n' + "
    "message.content + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|im_start|>assistant of ' + messages|length|string + '\n' }}{% endif %}"
)


@pytest.fixture
def settings(tiny_folders, data_files, tmp_path) -> dict:
    """A fine-tuning that would run."""
    return {
        "model": str(tiny_folders["llama"]),
        "format": "smollm2",
        "data": str(data_files["data"]),
        "replay": {"path": str(data_files["replay"])},
        "lora": {"r": 2, "alpha": 4},
        "trl": {"max_steps": 4, "per_device_train_batch_size": 2},
        "probe": {"tasks": {"pocket": {"limit": 2}}},
        "run_dir": str(tmp_path / "run"),
    }


@pytest.fixture
def diagnose(settings, tmp_path, capsys, monkeypatch):
    """(**changed settings) -> (exit status, finding by check)."""
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)

    def run(*options: str, **changes) -> tuple[int, dict[str, SimpleNamespace]]:
        path = tmp_path / "config.yaml"
        path.write_text(yaml.safe_dump(settings | changes))
        status = main(["--config", str(path), "--json", *options])
        told = json.loads(capsys.readouterr().out)
        assert told["go"] is (status == 0) and told["command"] == "train.sft"
        return status, {finding["check"]: SimpleNamespace(**finding) for finding in told["findings"]}

    return run


def test_a_good_configuration_is_go(diagnose) -> None:
    status, found = diagnose()
    assert status == 0, found
    checks = ["pins", "device", "model", "template", "kernels", "data", "data pocket", "settings", "mask", "adapters"]
    assert list(found) == ["processes", *checks, "judge", "run folder", "disk", "estimate"]
    assert {finding.status for finding in found.values()} == {"pass"}
    assert found["processes"].told.startswith("1 (the default")
    assert found["settings"].told == "4 steps of 2 examples (1 process x 2 rows x 1 pass), TRL accepts the settings"
    assert "⟦Why do you take 5 from" in found["mask"].shown and "trained" in found["mask"].told
    assert "every layer: 2 mlp.down_proj" in found["adapters"].told
    assert " h without probes, " in found["estimate"].told
    assert "tokens, $0.00 at most (at the speed of one example on this" in found["estimate"].told


def test_linear_attention_is_reached_too(diagnose, tiny_folders) -> None:
    status, found = diagnose(model=str(tiny_folders["qwen3_5"]), format="qwen3_5")
    assert status == 0 and "3 linear_attn.in_proj_qkv" in found["adapters"].told
    assert found["kernels"].status == "warn" and "3 of 4 layers are linear attention" in found["kernels"].told


def test_targets_that_skip_linear_attention_are_a_warning(diagnose, tiny_folders) -> None:
    lora = {"r": 2, "targets": r".*\.(q_proj|k_proj|v_proj|o_proj|up_proj)"}
    status, found = diagnose(model=str(tiny_folders["qwen3_5"]), format="qwen3_5", lora=lora)
    assert status == 0 and found["adapters"].status == "warn"
    assert "3 of 4 layers are without adapters on their attention" in found["adapters"].told


@pytest.mark.parametrize(
    ("changes", "check", "told"),
    [
        ({"model": "models/nothing-here"}, "model", "no model folder models/nothing-here"),
        ({"data": "data/none.jsonl"}, "data", "no training data data/none.jsonl"),
        ({"lora": {"targets": "nothing"}}, "adapters", "lora.targets matches no module"),
        ({"trl": {"learning_rat": 1}}, "settings", "learning_rat"),
        ({"format": "glm"}, "template", "format glm"),
        ({"max_length": 2}, "settings", "nothing to train on"),
        ({"probe": {"tasks": {"gsm8k": {}}}}, "data gsm8k", "no local file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_would_break_the_run_is_no_go(diagnose, changes, check, told, monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("USERTURN_DATA", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    status, found = diagnose(**changes)
    assert status == 1
    assert found[check].status == "fail" and told in found[check].told
    assert [name for name, finding in found.items() if finding.status == "fail"] == [check]


def test_a_judge_that_cannot_be_reached_is_no_go(diagnose, monkeypatch) -> None:
    monkeypatch.setitem(NOW, "request_s", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    judge = {"name": "openai", "model": "judge-1", "base_url": url, "api_key_variable": None, "backoff_s": 0.01}
    status, found = diagnose(probe={"tasks": {"pocket": {"limit": 2}}, "judge": judge})
    assert status == 1 and [name for name, finding in found.items() if finding.status == "fail"] == ["judge"]
    assert url in found["judge"].todo


def test_a_template_that_breaks_the_prefix_contract_is_no_go(diagnose, tiny_folders, tmp_path) -> None:
    broken = Path(shutil.copytree(tiny_folders["llama"], tmp_path / "broken"))
    (broken / "chat_template.jinja").write_text(GROWING)
    status, found = diagnose(model=str(broken))
    assert status == 1 and found["template"].status == "fail"
    assert "prefix property does not hold" in found["template"].told
    assert found["adapters"].status == "not checked" and found["adapters"].told == "needs settings"


def test_a_full_disk_is_no_go(diagnose, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=10**6))
    status, found = diagnose()
    assert status == 1 and found["disk"].status == "fail" and "2 checkpoints" not in found["disk"].told


def test_a_folder_of_another_run_is_no_go(diagnose, tmp_path) -> None:
    (tmp_path / "run").mkdir()
    manifest = {"protocol": {"seed": 1}, "selection": {"seed": 0, "tasks": {}}, "sessions": []}
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest))
    status, found = diagnose()
    assert status == 1 and "another protocol" in found["run folder"].told


@pytest.fixture
def unfinished(settings, tmp_path) -> None:
    """A folder with what a run of eight processes has left."""
    protocol = open_parts(validate(SftConfig, settings), planned=8).protocol
    (tmp_path / "run").mkdir()
    manifest = {"protocol": protocol, "selection": {"seed": 0, "tasks": {}}, "sessions": []}
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("options", [(), ("--processes", "8")])
def test_a_run_of_several_processes_is_go_where_it_resumes(diagnose, unfinished, options) -> None:
    status, found = diagnose(*options)
    assert status == 0, found
    assert found["processes"].told.startswith("8 ") and "unfinished part of this run" in found["run folder"].told
    assert found["settings"].told.startswith("4 steps of 16 examples (8 processes x 2 rows x 1 pass)")


def test_processes_share_the_hours(settings) -> None:
    config = validate(SftConfig, settings)
    model = TrainedModel(config)
    model.seconds_per_token = 50.0
    one, eight = (hours(estimate(open_parts(config, planned), model)) for planned in (1, 8))
    assert one == pytest.approx(eight)  # eight times the examples in the same number of steps
    fixed = config.model_copy(update={"global_batch_size": 8})
    one, eight = (hours(estimate(open_parts(fixed, planned), model)) for planned in (1, 8))
    assert one == pytest.approx(8 * eight, rel=0.02)


def hours(finding: Finding) -> float:
    return float(finding.told.partition(" h ")[0].replace(",", ""))


def test_hours_that_were_not_measured_are_a_warning(diagnose, monkeypatch) -> None:
    monkeypatch.setattr("train.checks.trained_model.HEAVY", 1)
    monkeypatch.setattr("train.checks.trained_model.device_here", lambda: None)
    status, found = diagnose()
    assert status == 0 and found["estimate"].status == "warn"
    assert found["estimate"].told.startswith("hours unknown") and "not measured here" in found["estimate"].told


def test_another_number_of_processes_is_no_go(diagnose, unfinished, monkeypatch) -> None:
    status, found = diagnose("--processes", "4")
    assert status == 1 and "a run of 8 processes, and now there are 4" in found["run folder"].told
    assert "resume with 8 (--processes 8 in eval.doctor)" in found["run folder"].todo
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    monkeypatch.setenv("SLURM_GPUS_ON_NODE", "2")
    status, found = diagnose()
    assert status == 1 and found["processes"].told.startswith("4 (2 nodes x 2 GPUs of Slurm job 7")


def test_processes_that_cannot_share_the_batch_are_no_go(diagnose) -> None:
    trl = {"max_steps": 4, "per_device_train_batch_size": 4}
    status, found = diagnose("--processes", "3", global_batch_size=8, trl=trl)
    assert status == 1 and "global_batch_size is 8, which 3 processes" in found["settings"].told
    status, found = diagnose("--processes", "4", global_batch_size=8, trl=trl)
    assert status == 0 and "8 examples (4 processes x 2 rows x 1 pass; trl.per_device" in found["settings"].told


def test_any_field_may_be_given(diagnose) -> None:
    status, found = diagnose("--trl.max-steps", "6", "--probe", "null", "--replay", "null")
    assert status == 0 and found["settings"].told.startswith("6 steps of 2")
    assert "judge" not in found


def test_what_a_person_reads(settings, tmp_path, capsys) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(settings | {"model": "models/none"}))
    assert main(["--config", str(path), "--name", "A 'B'"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "fail        model: no model folder models/none" in lines
    assert any(line.startswith("            -> ") and "eval.fetch_smollm2" in line for line in lines)
    assert shlex.split(lines[-1]) == ["no-go:", *shlex.split(f"python -m train.sft --config {path} --name"), "A 'B'"]
    assert main(["--config", str(path), "--processes", "2"]) == 1
    started = f"torchrun --nproc-per-node 2 -m train.sft --config {path}"
    assert capsys.readouterr().out.splitlines()[-1] == f"no-go: {started}"


@pytest.mark.parametrize("parallel", ["zero2", "zero3"])
def test_deepspeed_that_is_not_installed_is_no_go(diagnose, monkeypatch, parallel) -> None:
    installed = [one for one in importlib.metadata.distributions() if one.metadata["Name"] != "deepspeed"]
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: installed)
    status, found = diagnose(parallel=parallel)
    assert status == 1 and found["pins"].told.startswith("userturn needs deepspeed==")
    assert "pip install '.[train,deepspeed]'" in found["pins"].todo
    assert diagnose(parallel="ddp")[0] == 0
