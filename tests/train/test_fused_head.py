"""The fused head drops positions without a label on a CPU; nothing changes elsewhere."""

from __future__ import annotations

import pytest

from train.fused_head import score_trained_positions_alone


@pytest.fixture
def utils(monkeypatch):
    from trl.trainer import utils

    monkeypatch.setattr(utils, "_use_triton", lambda device: device.type == "cuda")
    return utils


def test_devices_other_than_a_cpu_are_as_trl_has_them(utils):
    import torch

    for _ in range(2):
        score_trained_positions_alone()
        answers = {name: utils._use_triton(torch.device(name)) for name in ("cpu", "cuda", "meta")}
        assert answers == {"cpu": True, "cuda": True, "meta": False}


def test_the_loss_is_the_same_with_fewer_positions(utils, tiny_model):
    import torch

    model = tiny_model("llama", 300)
    utils.add_fused_lm_head(model)
    ids = torch.arange(1, 61).reshape(2, 30)
    labels = ids.clone()
    labels[:, :25] = -100
    seen = []
    for _ in range(2):
        output = model(input_ids=ids, labels=labels, fused_lm_head=True)
        seen.append((output.loss.item(), output.log_probs.detach().clone(), output.label_mask.sum().item()))
        score_trained_positions_alone()
    (before, log_probs_before, count), (after, log_probs_after, again) = seen
    assert before == pytest.approx(after, abs=1e-6) and count == again == 10
    assert torch.allclose(log_probs_before, log_probs_after, atol=1e-6)
