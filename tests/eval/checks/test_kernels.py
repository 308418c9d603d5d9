"""Linear attention is fast with both of its kernels and a Triton whose gradients are right, and slow without."""

from __future__ import annotations

import pytest

from eval.checks.finding import examine
from eval.checks.kernels import Device, device_check, kernels, kernels_check

LAYERS = ["linear_attention"] * 3 + ["full_attention"]
BOTH = {"fla": "0.5.0", "causal_conv1d": "1.6.0"}
H100, A100, B200 = Device("H100", (9, 0)), Device("A100", (8, 0)), Device("B200", (10, 0))


@pytest.mark.parametrize(
    ("versions", "device", "refused", "status", "told"),
    [
        (BOTH | {"triton": "3.7.1"}, H100, True, "pass", "triton 3.7.1"),
        (BOTH | {"triton": "3.7.0"}, H100, True, "fail", "gradients are wrong"),
        (BOTH | {"triton": "3.10.0"}, H100, True, "pass", "triton 3.10.0"),
        (BOTH, H100, True, "fail", "triton unknown"),
        (BOTH | {"triton": "3.7.0"}, A100, True, "pass", "3 of 4 layers"),
        (BOTH | {"triton": "3.8.0"}, B200, True, "warn", "NaN"),
        ({"fla": "0.5.0", "triton": "3.8.0"}, H100, True, "fail", "without causal-conv1d"),
        ({}, H100, True, "fail", "plain torch path"),
        ({}, H100, False, "warn", "plain torch path"),
        ({}, None, True, "warn", "on this CPU"),
    ],
)
def test_kernels(versions, device, refused, status, told) -> None:
    finding = kernels(LAYERS, versions, device, refused)
    assert finding.status == status and told in finding.told


def test_other_models_need_none(tiny_model) -> None:
    assert kernels(["full_attention"] * 4, {}, H100, True).status == "pass"
    ((_, finding),) = examine([kernels_check(lambda: tiny_model, refused=True)])
    assert finding.status == "pass" and "no linear attention" in finding.told


def test_this_machine_is_told() -> None:
    ((_, finding),) = examine([device_check()])
    assert finding.status in ("pass", "fail") and finding.told
