"""What must be the same before two numbers stand side by side, each setting for itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.finished_runs import read_run
from eval.model_comparison.measured_model import read_model
from eval.model_comparison.same_protocol import differences, refuse_other_protocol

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]
GREEDY = {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "max_tokens": 96, "seed": 0}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"model": "other@1"}, []),
        ({"answers_sha": "1"}, []),
        ({"answers_from": "m@0"}, []),
        ({"judge": "local-2"}, ["judge: local-1 there, local-2 here"]),
        ({"template_sha": "ff"}, ["template_sha: "]),
        ({"history": "as_last"}, ["history: as_history there, as_last here"]),
        ({"sampling": {**GREEDY, "max_tokens": 64}}, ["sampling.max_tokens: 96 there, 64 here"]),
        ({"answers": {**GREEDY, "max_tokens": 64}}, ["answers.max_tokens: 96 there, 64 here"]),
        ({"format_options": {"thinking": True}}, ["format_options.thinking: None there, True here"]),
        ({"answers_from": "another@1"}, ["answers_from: None there, another@1 here"]),
        ({"perturbation": {"name": "truncate"}}, ["perturbation: none there, truncate here"]),
        ({"tasks": {"gsm8k": {"version": 2}}}, ["gsm8k.version: 1 there, 2 here"]),
        ({"tasks": {"gsm8k": {"version": 1, "split": "train"}}}, ["gsm8k.split: None there, train here"]),
        ({"tasks": {"ifbench": {"version": 9}}}, []),
    ],
)
def test_each_difference_is_said(make_run: MakeRun, rows_of: RowsOf, fields: dict[str, Any], said: list[str]) -> None:
    rows = rows_of("gsm8k", 2, 1)
    first = read_run(make_run("first", rows, model="m@0", tasks={"gsm8k": {"version": 1}}))
    given = {"model": "m@0", "tasks": {"gsm8k": {"version": 1}}, **fields}
    found = differences(first, read_run(make_run("other", rows, **given)))
    assert len(found) == len(said) and all(one.startswith(start) for one, start in zip(found, said, strict=True)), found


def test_a_difference_is_refused_with_all_of_them(make_run: MakeRun, rows_of: RowsOf) -> None:
    rows = rows_of("gsm8k", 2, 1)
    base, other = (
        read_model(read_run(make_run(name, rows, judge=judge)), name.upper())
        for name, judge in (("a", "local-1"), ("b", "local-2"))
    )
    refuse_other_protocol(base, other, [], "do so")
    with pytest.raises(
        ConfigError, match=r"B \(b\) was measured differently from A \(a\).*; do so:\n  judge: local-1 th"
    ):
        refuse_other_protocol(base, other, differences(base.run, other.run), "do so")
