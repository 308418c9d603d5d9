"""The command: what it prints before training, and how it exits."""

from __future__ import annotations

import pytest

from train.sft import main


@pytest.fixture
def arguments(tiny_folders, data_files, tmp_path):
    fields = {
        "model": tiny_folders["llama"],
        "format": "smollm2",
        "data": data_files["data"],
        "run-dir": tmp_path / "run",
    }
    return [text for name, value in fields.items() for text in (f"--{name}", str(value))]


def test_a_dry_run_counts_and_trains_nothing(arguments, data_files, tmp_path, capsys):
    replay = ["--replay.path", str(data_files["replay"]), "--replay.share", "0.25", "--max-length", "170"]
    status = main([*arguments, *replay, "--dry-run", "--trl.per-device-train-batch-size", "4"])
    assert status == 0, capsys.readouterr().err
    told = capsys.readouterr().out
    assert "conversations" in told and "trained tokens" in told and "graded wrong: 4" in told
    assert "longer than 170 tokens" in told and "steps of 4 examples" in told
    assert not (tmp_path / "run").exists()


def test_masks_are_shown_and_nothing_is_trained(arguments, tmp_path, capsys):
    assert main([*arguments, "--show-mask"]) == 0
    told = capsys.readouterr().out
    assert "\u27e6Why do you take 5 from 0 here?<|im_end|>\u27e7" in told.replace("\n", "") and "\x1b" not in told
    assert not (tmp_path / "run").exists()


def test_it_trains_reports_and_reports_again(arguments, tmp_path, capsys):
    small = ["--trl.max-steps", "2", "--lora.r", "2"]
    assert main([*arguments, *small]) == 0
    first = capsys.readouterr()
    assert f"model: {tmp_path}/run/model" in first.out and "training: 2/2 steps" in first.err
    assert "weights are trained; adapters on 2 mlp.down_proj" in first.err
    assert main([*arguments, *small]) == 0
    second = capsys.readouterr()
    assert first.out.endswith(second.out) and "training" not in second.err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--data", "none.jsonl"], "error: no training data none.jsonl"),
        (["--trl.learning_rat", "1"], "error: unknown key 'learning_rat' in trl"),
        (["--trl.packing", "true"], "error: trl.packing cannot be set"),
        (["--model", "models/none"], "error: no model folder models/none"),
        (["--format", "glm"], "with format glm: the chat template of"),
        (["--max-length", "5"], "leaves nothing to train on"),
    ],
)
def test_what_cannot_work_is_one_line(arguments, more, message, capsys):
    assert main([*arguments, *more]) == 2
    told = capsys.readouterr().err
    assert message in told and "Traceback" not in told
