"""A small probe with a given speaker: the same results as a probe, on rows that are not trained on."""

from __future__ import annotations

import json

import pytest

from eval import plugin
from eval.config import ConfigError, validate
from eval.dialogue import Dialogue, Message
from eval.engine import Completion
from eval.probe_config import ProbeConfig
from eval.rows import read_rows
from eval.speaker import Speaker
from train.held_out_probe import open_probe
from train.training_rows import TrainingRow


@pytest.fixture
def config(tmp_path):
    return validate(
        ProbeConfig,
        {"model": "m", "format": "smollm2", "tasks": {"pocket": {"limit": 3}}, "run_dir": tmp_path, "seed": 1},
    )


class Engine:
    """Says the reference of pocket's math rows, and asks about it as the user."""

    dtype, max_context = "float32", 10_000

    def __init__(self, tokenizer, said: str) -> None:
        self.ids = [*tokenizer.encode(said, add_special_tokens=False), tokenizer.convert_tokens_to_ids("<|im_end|>")]
        self.calls = 0

    def generate(self, prompts, sampling, stop_ids):
        for prompt in prompts:
            self.calls += 1
            yield prompt.key, Completion(tuple(self.ids), "stop")


def test_it_measures_with_the_parts_of_a_probe(config, smollm2_tokenizer, tmp_path):
    chat_format = plugin.load("eval.formats", "smollm2").Format(smollm2_tokenizer)
    probe = open_probe(config, [])
    engine = Engine(smollm2_tokenizer, "Thank you.")
    measured = probe.measure(Speaker(engine, chat_format, "SFT@step-000010"), tmp_path / "rows")
    metrics = measured.metrics
    assert metrics.keys() == {"pocket_math", "pocket_instructions", "pocket_conversations"}
    assert metrics["pocket_conversations"]["accuracy"] is None and metrics["pocket_math"]["accuracy"] == 0.0
    assert metrics["pocket_math"]["labels"] == {"assistant_turn_restate": 1.0} and metrics["pocket_math"]["rows"] == 3
    assert measured.pooled("genuine").n == 9 and measured.pooled("accuracy").n == 6
    assert str(measured) == "genuine 0.0 % (n=9), specific 0.0 % (n=9), accuracy 0.0 % (n=6)"
    rows = list(read_rows(tmp_path / "rows/rows.jsonl"))
    assert len(rows) == 9 and all(row.messages[-1].by == "SFT@step-000010" and row.judgement for row in rows)
    json.dumps(metrics)
    calls = engine.calls
    again = probe.measure(Speaker(engine, chat_format, "SFT@step-000010"), tmp_path / "rows")
    assert engine.calls == calls and again == measured


def test_a_probe_on_what_is_trained_on_is_refused(config):
    rows = open_probe(config, []).tasks.dialogues
    math = next(row for row in rows if row.task == "pocket_math")
    question = math.messages[0].text
    copied = Dialogue("collab", (Message("user", f"  {question.upper()}\n"), Message("assistant", "It is 7.")))
    other = Dialogue("collab", (Message("user", "Else?"), Message("assistant", question)))
    with pytest.raises(ConfigError, match=r"not held out: 1 of pocket_math .* such as x line 4"):
        open_probe(config, [TrainingRow(other, "x line 3"), TrainingRow(copied, "x line 4")])
    open_probe(config, [TrainingRow(other, "x line 3")])
