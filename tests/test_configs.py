"""Every committed configuration loads, and its first line is the command that runs it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from data_gen.generate_config import GenerateConfig
from eval.command_line import load
from eval.config import Config
from eval.probe_config import ProbeConfig
from eval.sweep_config import SweepConfig
from train.rl_config import RlConfig
from train.sft_config import SftConfig

CLASSES: dict[str, type[Config]] = {
    "data_gen.run": GenerateConfig,
    "eval.probe": ProbeConfig,
    "eval.sweep": SweepConfig,
    "train.rl": RlConfig,
    "train.sft": SftConfig,
}

CONFIGS = Path(__file__).parent.parent / "configs"
FILES = sorted(CONFIGS.rglob("*.yaml"))


def test_there_are_configurations() -> None:
    assert {path.name for path in FILES} >= {"probe.yaml", "sft.yaml", "rl.yaml"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CONFIGS)))
def test_it_loads_and_starts_with_its_command(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ")
    python, flag, module, *arguments = shlex.split(first.removeprefix("# "))
    assert (python, flag) == (".venv/bin/python", "-m")
    assert arguments[:2] == ["--config", str(path.relative_to(CONFIGS.parent))]
    config = load(CLASSES[module], ["--config", str(path), *arguments[2:]], prog=module, about="")
    if isinstance(config, SweepConfig):
        assert len(config.cells()) == len(config.models) * len(config.temperatures) * len(config.perturbations)
