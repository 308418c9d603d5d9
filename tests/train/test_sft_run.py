"""A run folder on a tiny model from start to end: its files, resuming it, and not repeating a finished one."""

from __future__ import annotations

import json
import shutil

import pytest

from eval.config import ConfigError, validate
from eval.weights import check_model_folder
from train.sft_config import SftConfig
from train.sft_parts import open_parts
from train.sft_run import fine_tune
from train.training_log import losses, read_log
from train.training_run import finished

TRL = {"per_device_train_batch_size": 4, "learning_rate": 1e-2, "save_steps": 2, "num_train_epochs": 2}


@pytest.fixture
def configure(tiny_folders, data_files, tmp_path):
    """(run="run", architecture="llama", **fields) -> the configuration of a small run with replay."""

    def make(run="run", architecture="llama", **fields) -> SftConfig:
        formats = {"llama": "smollm2", "qwen3_5": "qwen3_5"}
        values = {
            "model": str(tiny_folders[architecture]),
            "format": formats[architecture],
            "data": data_files["data"],
            "replay": {"path": data_files["replay"], "share": 0.25, "weight": 0.5},
            "lora": {"r": 4, "alpha": 8, "dropout": 0.1},
            "run_dir": tmp_path / run,
            **fields,
        }
        return validate(SftConfig, {**values, "trl": {**TRL, **fields.get("trl", {})}})

    return make


def run(config: SftConfig, told=None) -> dict:
    return fine_tune(open_parts(config), (told if told is not None else []).append)


@pytest.mark.parametrize("architecture", ["llama", "qwen3_5"])
@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None])
def test_a_run_leaves_a_model_folder_a_log_and_a_summary(configure, architecture, lora):
    told = []
    config = configure(architecture=architecture, lora=lora)
    summary = run(config, told)
    folder = config.run_dir
    check_model_folder(folder / "model")
    assert summary == json.loads((folder / "summary.json").read_text())
    assert summary["steps"] == 8 and summary["loss"]["last"] < summary["loss"]["first"]
    by_step = losses(folder / "log.jsonl")
    assert sorted(by_step) == list(range(1, 9))
    assert all({"grad_norm", "learning_rate", "num_tokens"} <= line.keys() for line in read_log(folder / "log.jsonl"))
    assert (folder / "adapters").is_dir() is (lora is not None)
    card = (folder / "model" / "README.md").read_text()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["protocol"]["data"] in card and summary["base"] in card and "| replay" in card
    assert manifest["protocol"]["replay"].keys() == {"share", "weight", "data"}
    assert "weights are trained" in told[0] and ("adapters on" in told[0]) is (lora is not None)


def test_the_trained_model_differs_from_its_base_where_it_was_trained(configure):
    from train.model_export import logits, open_model

    config = configure()
    run(config)
    parts = open_parts(config)
    ids = list(parts.mixture.all[0].input_ids)
    assert not logits(open_model(config.run_dir / "model"), ids).allclose(logits(open_model(parts.folder), ids))


def test_a_finished_run_is_only_read(configure):
    config = configure()
    summary = run(config)
    before = (config.run_dir / "model" / "model.safetensors").stat().st_mtime_ns
    for same in (config, configure(name="Other")):  # a name does not change what is trained
        assert finished(config.run_dir, open_parts(same).protocol) == summary
    assert finished(config.run_dir, open_parts(configure(seed=1)).protocol) is None
    assert finished(config.run_dir / "none", open_parts(config).protocol) is None
    assert (config.run_dir / "model" / "model.safetensors").stat().st_mtime_ns == before


def test_a_folder_of_other_settings_is_refused(configure):
    run(configure())
    with pytest.raises(
        ConfigError, match=r"(?s)holds rows of another protocol.*\n  trl\.learning_rate: 0\.01 there, 0\.001 now"
    ):
        run(configure(trl={"learning_rate": 1e-3}))


@pytest.mark.parametrize("kept", [2, 4, 6, 8])
def test_a_resumed_run_makes_the_steps_of_an_uninterrupted_one(configure, kept, tmp_path):
    whole = configure("whole", trl={"save_total_limit": 10})
    run(whole)
    part = configure("part", trl={"save_total_limit": 10})
    shutil.copytree(whole.run_dir, part.run_dir)
    for path in (part.run_dir / "checkpoints").glob("checkpoint-*"):
        if int(path.name.rpartition("-")[2]) > kept:
            shutil.rmtree(path)
    half = part.run_dir / "checkpoints" / f"checkpoint-{kept + 1}"
    half.mkdir()
    (half / "adapter_model.safetensors").write_bytes(b"torn")
    for name in ("model", "adapters"):
        shutil.rmtree(part.run_dir / name)
    (part.run_dir / "summary.json").unlink()
    lines = (part.run_dir / "log.jsonl").read_text().splitlines(keepends=True)
    (part.run_dir / "log.jsonl").write_text("".join(lines[: kept + 1]) + '{"step": 9, "lo')
    run(part)
    made = [line["step"] for line in read_log(part.run_dir / "log.jsonl")]
    assert made == [*range(1, min(kept + 1, 8) + 1), *range(kept + 1, 9)]
    assert losses(part.run_dir / "log.jsonl") == pytest.approx(losses(whole.run_dir / "log.jsonl"), abs=1e-6)
    assert not half.exists() or kept + 1 == 8
    for one in ("model", "adapters"):
        weights = next((part.run_dir / one).glob("*.safetensors"))
        assert weights.read_bytes() == (whole.run_dir / one / weights.name).read_bytes()


def test_a_probe_and_its_rows_do_not_change_training(configure):
    settings = {"tasks": {"pocket": {"limit": 2}}, "every": 4}
    settings |= {"answers": {"max_tokens": 6}, "sampling": {"max_tokens": 5}}
    told = []
    plain, probed = configure("plain"), configure("probed", probe=settings)
    run(plain)
    summary = run(probed, told)
    assert losses(probed.run_dir / "log.jsonl") == losses(plain.run_dir / "log.jsonl")
    weights = "model/model.safetensors"
    assert (probed.run_dir / weights).read_bytes() == (plain.run_dir / weights).read_bytes()
    assert list(summary["probe"]["steps"]) == ["0", "4", "8"]
    assert [line.partition(":")[0] for line in told[1:]] == [f"probe at step {step}" for step in (0, 4, 8)]
    lines = [line for line in read_log(probed.run_dir / "log.jsonl") if "probe" in line]
    assert [line["probe"]["pocket_math"]["rows"] for line in lines] == [2, 2, 2]
    assert len((probed.run_dir / "probes/step-000004/rows.jsonl").read_text().splitlines()) == 6


def test_a_loss_that_is_not_finite_ends_the_run(configure):
    with pytest.raises(ConfigError, match=r"step \d: the loss is .* lower trl\.learning_rate"):
        run(configure(trl={"learning_rate": 1e12, "warmup_steps": 0, "max_grad_norm": 0, "num_train_epochs": 20}))


@pytest.mark.parametrize("lost", [(), ("model", "adapters", "summary.json")], ids=["finished", "killed while saving"])
def test_the_guard_ends_a_run_and_a_run_that_is_started_again_stays_stopped(configure, monkeypatch, lost):
    from eval.stats.rates import Rate

    class Found:
        def __init__(self, right: int) -> None:
            self.right, self.metrics = right, {"pocket": {"accuracy": right / 10}}

        def pooled(self, name: str) -> Rate:
            return Rate(self.right, 10)

        def __str__(self) -> str:
            return f"{self.right} right"

    probed = []
    monkeypatch.setattr(
        "train.sft_training.measure",
        lambda *given: probed.append(given[-2]) or Found({0: 9, 2: 8, 4: 5}[given[-2]]),
    )
    guard = {"points": 30, "action": "stop"}
    config = configure(probe={"tasks": {"pocket": {"limit": 1}}, "every": 2, "guard": guard})
    summary = run(config)
    assert summary["steps"] == 4 and sorted(losses(config.run_dir / "log.jsonl")) == [1, 2, 3, 4]
    said = "step 4: accuracy on pocket fell by 40.0 points from before training, 30 are allowed"
    assert summary["probe"]["stopped"] == said
    for name in lost:
        path = config.run_dir / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert run(config) == summary
    assert sorted(losses(config.run_dir / "log.jsonl")) == [1, 2, 3, 4] and probed == [0, 2, 4]
    check_model_folder(config.run_dir / "model")
