"""The paper's value for a model of ours, and where it says nothing about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eval.dialogue import Dialogue
from eval.finished_runs import read_run
from eval.model_comparison.claims import claim_of, why_no_claims
from eval.model_comparison.metric import PAPER, Metric
from eval.model_comparison.verdict import Claim

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


def test_a_model_is_taken_for_the_paper_s_by_its_name_and_base_by_its_place() -> None:
    accuracy, ifbench, _, _, coval = PAPER
    assert claim_of(None, accuracy) == Claim(62.9, None, 1319)
    assert claim_of("SFT", ifbench) == claim_of("sft", ifbench) == Claim(48.0, 1.0, 300)
    assert claim_of("RL", coval) == Claim(29.0, 19.4, 93)
    assert claim_of("SFT (b)", ifbench) is None
    assert claim_of("SFT", Metric("ifbench", "specific")) is None
    assert claim_of(None, Metric("pocket_math", "accuracy")) is None


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"model": "Qwen3.5-2B@0123"}, ""),
        ({"model": "Qwen3.5-0.8B@0123"}, "is about Qwen3.5-2B, and the first run is of Qwen3.5-0.8B"),
        ({"model": "Qwen3.5-2B@0123", "temperature": 0.7}, "these user turns have temperature 0.7"),
    ],
)
def test_the_paper_s_table_is_about_one_model_at_one_temperature(
    make_run: MakeRun, rows_of: RowsOf, fields: dict, why: str
) -> None:
    found = why_no_claims(read_run(make_run("run", rows_of("gsm8k", 2, 1), **fields)))
    assert found.endswith(why) and bool(found) == bool(why)
