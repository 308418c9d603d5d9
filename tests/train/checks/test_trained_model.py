"""Checks shared by SFT and RL; their findings are tested in preflight/."""

from __future__ import annotations

from eval.checks.finding import examine
from train.checks import trained_model
from train.checks.trained_model import TrainedModel
from train.sft_config import SftConfig


def test_large_weights_are_checked_by_name_on_a_cpu(tiny_folders, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(trained_model, "HEAVY", 1)
    monkeypatch.setattr(trained_model, "device_here", lambda: None)
    config = SftConfig(model=str(tiny_folders["llama"]), format="smollm2", data="d", run_dir=tmp_path)
    model = TrainedModel(config)
    ((_, finding),) = examine([model.adapters_check(lambda: ([1], [1]), ())])
    assert finding.status == "warn" and "2 self_attn.q_proj" in finding.told
    assert model.seconds_per_token is None
    whole = TrainedModel(config.model_copy(update={"lora": None}))
    ((_, finding),) = examine([whole.adapters_check(lambda: ([1], [1]), ())])
    assert finding.status == "pass" and "all weights are trained" in finding.told
