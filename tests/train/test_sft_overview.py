"""The table of training data: counts that add up, and the share of the loss."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

from eval.rendering.chat_format import IGNORED
from train.examples import TrainingExample
from train.mixture import Mixture
from train.sft_overview import overview


def example(tokens: int, trained: int, weight: float = 1.0) -> TrainingExample:
    return TrainingExample("x", [1] * tokens, [IGNORED] * (tokens - trained) + [1] * trained, weight)


def test_the_share_of_the_loss_counts_weighted_tokens():
    examples = {"conversations": [example(100, 10), example(60, 20)], "replay": [example(200, 120, weight=0.5)]}
    left_out = Counter({("replay", "graded wrong"): 3, ("conversations", "longer than 9 tokens"): 1})
    table = overview(SimpleNamespace(mixture=Mixture(examples, left_out), steps=7, batch=8, division="2 processes x 4"))
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["conversations", "2", "160", "30", "33.3", "100"],
        ["replay", "1", "200", "120", "66.7", "200"],
    ]
    assert table.notes == (
        "left out: conversations, longer than 9 tokens: 1; replay, graded wrong: 3",
        "7 steps of 8 examples: 2 processes x 4",
    )
