"""Which runs stand in one row, what rows are called, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.finished_runs import Run, read_run
from eval.paper.lineup import by_family, line_up, perturbation_of, select, settings_of, size_of

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


@pytest.fixture
def run(make_run: MakeRun, rows_of: RowsOf) -> Callable[..., Run]:
    """A run of three rows under the given protocol."""
    made = []

    def make(**protocol) -> Run:
        made.append(read_run(make_run(f"run{len(made)}", rows_of("gsm8k", 3, 1), **protocol)))
        return made[-1]

    return make


def test_runs_that_differ_in_the_varied_part_alone_are_one_group(run) -> None:
    runs = [run(temperature=t, model=m) for m in ("b-2B@1", "a-1B@1") for t in (1.0, 0.0)]
    lineup = line_up(runs, "sampling.temperature")
    assert [group.name for group in lineup.groups] == ["a-1B", "b-2B"]
    assert [sorted(group.runs) for group in lineup.groups] == [[0.0, 1.0], [0.0, 1.0]]
    assert "judge local-1" in lineup.common and "answers.temperature 0" in lineup.common
    assert "sampling.temperature" not in lineup.common


def test_a_name_tells_what_sets_a_row_apart(run) -> None:
    names = [group.name for group in line_up([run(), run(judge="local-2"), run(temperature=0.7)]).groups]
    assert names == [
        "SmolLM2-135M-Instruct (sampling.temperature 0, judge local-1)",
        "SmolLM2-135M-Instruct (sampling.temperature 0, judge local-2)",
        "SmolLM2-135M-Instruct (sampling.temperature 0.7, judge local-1)",
    ]


def test_two_weights_of_one_name_are_told_apart(run) -> None:
    names = [group.name for group in line_up([run(model="m@1"), run(model="m@2")]).groups]
    assert [name.split(" ")[0] for name in names] == ["m@1", "m@2"]


def test_weights_of_one_name_are_told_apart_by_the_names_of_their_runs(run) -> None:
    base, sft, rl = (
        run(model="m-1B@0", called="Base"),
        run(model="model@1", called="SFT"),
        run(model="model@2", called="RL"),
    )
    assert [group.name for group in line_up([base, sft]).groups] == ["model", "m-1B"], "told apart already"
    assert {group.name for group in line_up([base, sft, rl]).groups} == {"Base", "SFT", "RL"}
    again = run(model="model@3", called="RL")
    assert len({group.name for group in line_up([sft, rl, again]).groups}) == 3
    warm = run(model="model@1", temperature=1.0, called="SFT warm")
    names = {group.name.split(" ")[0] for group in line_up([sft, warm, rl], "sampling.temperature").groups}
    assert names == {"model@1", "RL"}


def test_stored_answers_of_the_same_model_are_its_own(run) -> None:
    own, stored = run(model="m@1"), run(model="m@1", temperature=1.0, answers_from="m@1")
    (group,) = line_up([own, stored], "sampling.temperature").groups
    assert group.name == "m"
    crossed = run(model="m@1", temperature=1.0, answers_from="other@2")
    names = [group.name for group in line_up([own, crossed], "sampling.temperature").groups]
    assert names == ["m (answers_from None)", "m (answers_from other@2)"]


def test_two_runs_of_one_cell_are_refused(run) -> None:
    with pytest.raises(ConfigError, match="run0 and run1 would fill the same cell; leave one out"):
        line_up([run(model="m@1"), run(model="m@1", answers_from="m@1")], "sampling.temperature")


def test_perturbations_have_names_with_their_options(run) -> None:
    assert perturbation_of(run()) == "none"
    assert perturbation_of(run(perturbation={"name": "truncate", "fraction": 0.25})) == "truncate fraction 0.25"
    assert settings_of(run(perturbation={"name": "truncate"}))["perturbation"] == "truncate"


def test_models_come_in_the_paper_s_order_then_by_family_and_size(run) -> None:
    models = ["SmolLM2-1.7B@1", "SmolLM2-360M@1", "GLM-4.7@1", "Qwen3.5-27B@1", "Qwen3.5-2B@1"]
    formats = {"Q": "qwen3_5", "G": "glm", "S": "smollm2"}
    runs = [run(model=model, format=formats[model[0]]) for model in models]
    ordered = ["Qwen3.5-2B", "Qwen3.5-27B", "GLM-4.7", "SmolLM2-360M", "SmolLM2-1.7B"]
    assert [group.name for group in line_up(runs).groups] == ordered
    assert list(by_family(runs)) == ["Qwen3.5", "GLM-4.7", "smollm2"]


def test_selection_says_what_it_left_out(run) -> None:
    runs = [run(), run(temperature=1.0), run(perturbation={"name": "truncate"})]
    assert select(runs, temperature=0.0) == ([runs[0]], ["Runs left out: 1 perturbed, 1 at temperatures other than 0."])
    assert select(runs) == (runs[:2], ["Runs left out: 1 perturbed."])
    assert select(runs[:1], temperature=0.0) == (runs[:1], [])


@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("SmolLM2-135M-Instruct", 135),
        ("SmolLM2-1.7B", 1700),
        ("Qwen3.5-35B-A3B", 35_000),
        ("gpt-oss-120b", 120_000),
        ("GLM-4.7", 0),
        ("my-Model", 0),
    ],
)
def test_sizes_are_read_from_names(name: str, millions: float) -> None:
    assert size_of(name) == millions


def test_no_runs_are_no_groups() -> None:
    assert line_up([]).groups == ()
