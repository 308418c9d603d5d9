"""Every committed configuration loads, and its first line is the command that runs it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from eval.config import load
from eval.probe_config import ProbeConfig

CONFIGS = Path(__file__).parent.parent / "configs"
FILES = sorted(CONFIGS.rglob("*.yaml"))


def test_there_are_configurations() -> None:
    assert {path.name for path in FILES} >= {"demo.yaml", "probe.yaml"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CONFIGS)))
def test_it_loads_and_starts_with_its_command(path: Path) -> None:
    config = load(ProbeConfig, ["--config", str(path)], prog="probe", about="")
    assert config.tasks
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ")
    words = shlex.split(first.removeprefix("# "))
    if words[0] != "make":
        assert words[:3] == [".venv/bin/python", "-m", "eval.probe"]
        load(ProbeConfig, ["--config", str(path), *words[5:]], prog="probe", about="")
        assert words[3:5] == ["--config", str(path.relative_to(CONFIGS.parent))]
