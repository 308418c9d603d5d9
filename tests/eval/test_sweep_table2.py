"""A sweep with a Base: Table 2 of its models comes with it, the cross condition beside them."""

from __future__ import annotations

import json
import runpy
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from eval.rows import read_rows
from eval.sweep import main

CONVERSATIONS = 2


@pytest.fixture(scope="module")
def trained(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small model with weights that have moved."""
    import torch
    from transformers import AutoModelForCausalLM

    folder = tmp_path_factory.mktemp("trained") / "model"
    shutil.copytree(tiny_model, folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    torch.manual_seed(1)
    with torch.no_grad():
        model.lm_head.weight.add_(torch.randn_like(model.lm_head.weight))
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tiny_model: Path, trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sweep")
    config = {
        "run_dir": str(path / "sweep"),
        "base": "Base",
        "models": {"SFT": {"model": str(trained)}, "Base": {"model": str(tiny_model)}},
        "answers_from": {"own": None, "base": "Base"},
        "temperatures": [0.0],
        "probe": {
            "format": "smollm2",
            "engine": {"name": "transformers", "device": "cpu"},
            "answers": {"max_tokens": 6},
            "sampling": {"max_tokens": 5},
            "tasks": {"pocket": {"limit": CONVERSATIONS}},
            "report_to": {"name": "wandb", "mode": "offline"} if find_spec("wandb") else "none",
        },
    }
    (path / "sweep.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    assert main(["--config", str(path / "sweep.yaml")]) == 0
    return path / "sweep"


def test_the_table_compares_the_models_with_base_and_across(folder: Path) -> None:
    sources = json.loads((folder / "table2" / "table2.sources.json").read_text())
    assert sources["runs"] == ["../Base/full-t0", "../SFT/full-t0"]
    assert sources["cross"] == ["../SFT/base-full-t0"]
    table = (folder / "table2" / "table2.md").read_text()
    assert "SFT on the answers of Base" in table or "Cross condition: user turns on the answers of Base" in table


def test_a_cross_cell_has_only_rows_that_the_other_model_answered(folder: Path) -> None:
    own, cross = (list(read_rows(folder / "SFT" / name / "rows.jsonl")) for name in ("full-t0", "base-full-t0"))
    assert len(own) == 3 * CONVERSATIONS
    assert {row.task for row in cross} == {"pocket_math", "pocket_instructions"}
    base = {message.by for row in read_rows(folder / "Base" / "full-t0" / "rows.jsonl") for message in row.messages}
    assert all(row.messages[-2].by in base for row in cross)


def test_its_tables_figures_and_report_go_where_its_cells_are_reported(folder: Path) -> None:
    pytest.importorskip("wandb")
    OfflineRuns = runpy.run_path(str(Path(__file__).parent / "trackers" / "wandb_file.py"))["OfflineRuns"]
    cells = [OfflineRuns(path) for path in (*folder.glob("*/full-t0"), folder / "SFT" / "base-full-t0")]
    rows = {name for cell in cells for name in cell.made if name.startswith("rows-")}
    assert len(rows) == 3
    for name in ("paper/.paper_tables", ".report", "table2/.table2"):
        assert OfflineRuns(folder / name).used == rows, name
