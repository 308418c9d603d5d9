"""TRL's fused head in `train.sft` with ZeRO-3 on two processes: it is active, and its loss equals the plain one.

A single process is tested in tests/train/test_sft_trainer.py. Here the first step covers the whole data set, so its
loss is that of the weights before training, independent of the order of rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eval.dialogue import Dialogue, Message
from eval.rendering.chat_format import IGNORED
from train.training_log import losses

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1800)]

ROWS = 8
COUNTING = """
import json, os, sys
from trl.trainer import utils
from train.sft import main

projected, apply = [], utils._ChunkedLogProbFunction.apply

def counting(hidden, weight, *rest):
    projected.append([hidden.shape[0], list(weight.shape)])
    return apply(hidden, weight, *rest)

utils._ChunkedLogProbFunction.apply = counting
status = main(sys.argv[2:])
with open(f"{sys.argv[1]}.{os.environ['RANK']}", "w") as file:
    json.dump(projected, file)
sys.exit(status)
"""
"""Runs `train.sft` and records how many positions the head projects, and the shape of its weights."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "conversations.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(ROWS):
            turns = (
                Message("user", f"Tom has {number + 3} pens{' and more' * number}. He gets 4. How many?"),
                Message("assistant", f"He has {number + 3} + 4 = {number + 7} pens."),
                Message("user", f"Is it still {number + 7}{' or so' * (number % 3)} if he loses one of them first?"),
            )
            file.write(json.dumps(Dialogue("collab", turns).to_json()) + "\n")
    return path


def plain(tiny: Path, data: Path) -> tuple[float, int]:
    """Mean cross entropy of the trained tokens, from full logits of one example at a time, and their number."""
    import torch
    from torch.nn.functional import cross_entropy
    from transformers import AutoTokenizer

    from eval import plugin
    from train.examples import training_examples
    from train.model_export import open_model
    from train.training_rows import read_training_rows

    chat_format = plugin.load("eval.formats", "qwen3_5").Format(AutoTokenizer.from_pretrained(tiny))
    model, summed, trained = open_model(tiny), 0.0, 0
    for row in read_training_rows(data).rows:
        (example,) = training_examples(row.dialogue, chat_format, "user")
        with torch.no_grad():
            logits = model(torch.tensor([example.input_ids])).logits[0, :-1]
        labels = torch.tensor(example.labels[1:])
        summed += cross_entropy(logits, labels, ignore_index=IGNORED, reduction="sum").item()
        trained += example.trained
    return summed / trained, trained


@pytest.mark.parametrize("lora", ["--lora.r 4", "--lora null"], ids=["adapters", "all"])
def test_only_trained_positions_are_projected_and_the_loss_is_the_plain_one(
    lora: str, tiny: Path, data: Path, deepspeed: None, repository: Path, tmp_path: Path
) -> None:
    script, counts, run_dir = tmp_path / "counting.py", tmp_path / "counts", tmp_path / "run"
    script.write_text(COUNTING)
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    given = f"--model {tiny} --format qwen3_5 --data {data} --run-dir {run_dir} --parallel zero3 {lora}"
    batch = f"--global-batch-size {ROWS} --trl.per-device-train-batch-size {ROWS // 2} --trl.max-steps 1"
    done = subprocess.run(
        [*launch, str(script), str(counts), *given.split(), *batch.split()],
        cwd=repository,
        capture_output=True,
        text=True,
        timeout=1500,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(repository)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    expected, trained = plain(tiny, data)
    projected = [json.loads(Path(f"{counts}.{rank}").read_text()) for rank in range(2)]
    assert all(len(once) == 1 for once in projected)
    assert sum(positions for once in projected for positions, _ in once) == trained
    vocabulary = json.loads((tiny / "config.json").read_text())["vocab_size"]
    assert all(weight == [vocabulary, 32] for once in projected for _, weight in once), "gathered"
    assert losses(run_dir / "log.jsonl") == {1: pytest.approx(expected, abs=1e-5)}
