"""Every committed configuration loads, and its first line is the command that runs it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from data_gen.generate_config import GenerateConfig
from eval.command_line import load
from eval.config import Config
from eval.paper.published import read_paper
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
LAUNCHERS = sorted((CONFIGS / "accelerate").glob("*.yaml"))
FILES = sorted({*CONFIGS.rglob("*.yaml")} - {*LAUNCHERS})


def test_configurations_are_found() -> None:
    assert {path.name for path in FILES} >= {"probe.yaml", "sft.yaml", "rl.yaml"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CONFIGS)))
def test_a_configuration_loads_and_its_first_line_is_its_command(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# ")
    python, flag, module, *arguments = shlex.split(first.removeprefix("# "))
    assert (python, flag) == (".venv/bin/python", "-m")
    assert arguments[:2] == ["--config", str(path.relative_to(CONFIGS.parent))]
    config = load(CLASSES[module], ["--config", str(path), *arguments[2:]], prog=module, about="")
    if isinstance(config, SweepConfig):
        assert {cell.model for cell in config.cells()} == set(config.models)


def test_the_paper_sweep_covers_every_number_that_needs_no_training() -> None:
    config = load(SweepConfig, ["--config", str(CONFIGS / "eval" / "sweep_paper.yaml")], prog="", about="")
    tasks = config.probe["tasks"].keys() - {"gpqa"} | {"gpqa_main", "gpqa_diamond"}
    assert config.probe["tasks"]["gpqa"] == {"subset": "both"}
    conditions = {change.name if change else "base" for change in config.perturbations.values()}
    assert {Path(fields["model"]).name for fields in config.models.values()} == set(read_paper().models)
    for name in ("table1", "table3", "table4", "table5"):
        for column in read_paper().tables[name].columns:
            assert column["task"] in tasks and column["temperature"] in config.temperatures
            assert column.get("condition", "base") in conditions


@pytest.mark.parametrize("path", LAUNCHERS, ids=lambda path: path.stem)
def test_a_launcher_file_starts_with_its_command_and_matches_the_parallel_mode(path: Path) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    first = path.read_text(encoding="utf-8").splitlines()[0]
    program, launch, *arguments = shlex.split(first.removeprefix("# "))
    module = arguments.index("-m")
    assert (program, launch) == (".venv/bin/accelerate", "launch")
    assert arguments[:module] == ["--config_file", str(path.relative_to(CONFIGS.parent))]
    config = load(CLASSES[arguments[module + 1]], arguments[module + 2 :], prog="", about="")
    assert isinstance(config, SftConfig) and config.parallel == path.stem
    launcher = load_config_from_file(str(path))
    kinds = {"ddp": "MULTI_GPU", "zero2": "DEEPSPEED", "zero3": "DEEPSPEED", "fsdp2": "FSDP"}
    assert launcher.distributed_type == kinds[path.stem] and launcher.num_machines == 1
    if launcher.distributed_type == "DEEPSPEED":
        assert launcher.deepspeed_config["deepspeed_config_file"] == f"configs/deepspeed/{path.stem}.json"


def test_deepspeed_saves_full_weights_and_takes_batch_size_and_precision_from_the_trainer() -> None:
    for stage in (2, 3):
        settings = json.loads((CONFIGS / "deepspeed" / f"zero{stage}.json").read_text(encoding="utf-8"))
        zero = settings.pop("zero_optimization")
        assert zero["stage"] == stage and (stage == 2 or zero["stage3_gather_16bit_weights_on_model_save"] is True)
        assert {str(value) for value in settings.values()} == {"auto", "{'enabled': 'auto'}"}
