"""Models from run folders, counted by hand: pairs, adjusted tests, the cross condition, what is refused or marked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure
from eval.model_comparison.comparison import Comparison, MeasuredFigure, compare_models
from eval.model_comparison.measured_model import read_distinct
from eval.stats.paired import Pairs, holm
from eval.stats.rates import Rate

MakeModel = Callable[..., Path]
MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]
FULL = {"gsm8k": 1319, "ifbench": 300, "gpqa_diamond": 198, "healthbench_held": 428, "coval_held": 93}
PUBLISHED = {"Base": (829, 3, 4, 157, 18), "SFT": (532, 144, 91, 233, 42), "RL": (889, 30, 18, 199, 27)}
"""Counts that print as the paper's Table 2."""


def compared(*paths: Path, cross: tuple[Path, ...] = (), force: bool = False) -> Comparison:
    return compare_models(read_distinct(paths), read_distinct(cross), force)


def cell(comparison: Comparison, model: str, key: str) -> MeasuredFigure:
    (found,) = [one for one in comparison.cells if (one.model.name, one.metric.key) == (model, key)]
    return found


def verdicts(comparison: Comparison, model: str) -> list[str]:
    return [one.finding.verdict for one in comparison.cells if one.model.name == model]


@pytest.fixture
def paper(make_model: MakeModel) -> list[Path]:
    """Three runs whose counts are the paper's; every model keeps what Base has and adds to it."""
    made = []
    for name, counts in PUBLISHED.items():
        tasks = {
            task: (n, 0 if task == "gsm8k" else good, good if task == "gsm8k" else None)
            for (task, n), good in zip(FULL.items(), counts, strict=True)
        }
        made.append(make_model(name, **tasks))
    return made


def test_the_paper_s_own_counts_are_reproduced_where_the_rows_can_show_it(paper: list[Path]) -> None:
    found = compared(*paper)
    assert [model.name for model in found.models] == ["Base", "SFT", "RL"] and not found.without_claims
    for name in ("Base", "SFT", "RL"):
        assert verdicts(found, name) == ["reproduced"] * 5
    assert cell(found, "SFT", "gsm8k.accuracy").evidence.pairs == Pairs(532, 297, 0, 490)
    assert cell(found, "RL", "coval.genuine").evidence.pairs == Pairs(18, 0, 9, 66)
    assert cell(found, "SFT", "ifbench.genuine").specific == Rate(72, 300)
    assert cell(found, "SFT", "gsm8k.accuracy").specific is None
    # p-values are adjusted over the whole table.
    trained = [one for one in found.cells if one.evidence.pairs]
    assert len(trained) == 10
    raw = [one.evidence.pairs.p_value for one in trained if one.evidence.pairs]
    assert [one.evidence.p_base for one in trained] == holm(raw)
    assert all(one.evidence.p_base is None for one in found.cells if one.model is found.base)


def test_a_task_that_a_run_lacks_is_not_run(make_model: MakeModel) -> None:
    base = make_model("Base", ifbench=(300, 3, None), coval_held=(93, 18, None))
    sft = make_model("SFT", ifbench=(300, 144, None))
    found = compared(base, sft)
    assert verdicts(found, "Base") == ["not run", "reproduced", "not run", "not run", "reproduced"]
    assert verdicts(found, "SFT") == ["not run", "reproduced", "not run", "not run", "not run"]
    lacking = cell(found, "SFT", "coval.genuine").evidence
    assert (lacking.total, lacking.p_base) == (0, None) and lacking.pairs == Pairs(0, 0, 0, 0, left_out=93)


def test_different_rows_are_paired_where_they_are_the_same(make_model: MakeModel) -> None:
    found = compared(make_model("Base", ifbench=(300, 3, None)), make_model("SFT", ifbench=(60, 29, None)))
    evidence = cell(found, "SFT", "ifbench.genuine").evidence
    assert evidence.rate == Rate(29, 60) and evidence.pairs == Pairs(3, 0, 26, 31, left_out=240)
    assert cell(found, "SFT", "ifbench.genuine").finding.verdict == "reproduced"


def test_unjudged_rows_are_in_no_rate_and_no_pair(make_run: MakeRun, rows_of: RowsOf) -> None:
    base = rows_of("ifbench", 10, 4, model="Qwen3.5-2B@0")
    rows = rows_of("ifbench", 10, 6, model="model@1")
    failed = [replace(row, judgement=None, failure=Failure("judge", "timeout")) for row in rows[:3]]
    found = compared(
        make_run("base", base, called="Base", model="Qwen3.5-2B@0"),
        make_run("sft", [*failed, *rows[3:]], called="SFT", model="model@1"),
    )
    evidence = cell(found, "SFT", "ifbench.genuine").evidence
    assert (evidence.rate, evidence.total) == (Rate(3, 7), 10)
    assert evidence.pairs == Pairs(1, 0, 2, 4, left_out=3)


def test_a_run_whose_every_row_failed_is_not_resolved(
    make_run: MakeRun, make_model: MakeModel, rows_of: RowsOf
) -> None:
    base = make_model("Base", ifbench=(5, 1, None), coval_held=(5, 1, None))
    failed = [
        replace(row, judgement=None, failure=Failure("judge", "timeout"))
        for row in rows_of("ifbench", 5, 0, model="model@SFT")
    ]
    rows = [*failed, *rows_of("coval", 5, 1, model="model@SFT", held_out=True)]
    found = compared(base, make_run("sft", rows, called="SFT", model="model@SFT", format="qwen3_5"))
    one = cell(found, "SFT", "ifbench.genuine")
    assert (one.evidence.rate, one.evidence.total, one.evidence.p_base) == (Rate(0, 0), 5, None)
    assert (one.finding.verdict, one.finding.because) == ("not resolved", "no row has an outcome")


def test_equal_outcomes_are_ties(make_model: MakeModel) -> None:
    found = compared(make_model("Base", ifbench=(30, 9, None)), make_model("SFT", ifbench=(30, 9, None)))
    evidence = cell(found, "SFT", "ifbench.genuine").evidence
    assert evidence.pairs == Pairs(9, 0, 0, 21) and evidence.p_base == 1.0


def test_a_lone_base_has_values_and_no_tests(make_model: MakeModel) -> None:
    found = compared(make_model("Base", ifbench=(300, 3, None)))
    assert cell(found, "Base", "ifbench.genuine").finding.verdict == "reproduced"
    assert cell(found, "Base", "ifbench.genuine").base is None


def test_another_model_s_paper_value_is_no_paper_value(make_model: MakeModel) -> None:
    small = {"model": "SmolLM2-135M@0"}
    found = compared(make_model("Base", fields=small, ifbench=(30, 1, None)), make_model("SFT", ifbench=(30, 20, None)))
    assert "the first run is of SmolLM2-135M" in found.without_claims
    one = cell(found, "SFT", "ifbench.genuine")
    assert (one.finding.verdict, one.finding.because, one.claim) == ("no paper value", "up from Base", None)


def test_runs_of_another_protocol_are_refused_or_marked(make_model: MakeModel) -> None:
    base = make_model("Base", ifbench=(30, 1, None))
    sft = make_model("SFT", ifbench=(30, 20, None), fields={"judge": "local-2"})
    with pytest.raises(
        ConfigError, match=r"SFT \(sft\) was measured differently.*include it marked with --force:\n  judge: local"
    ):
        compared(base, sft)
    assert compared(base, sft, force=True).marks == {"SFT": ("judge: local-1 there, local-2 here",)}
    assert compared(base, force=True).marks == {}


def test_perturbed_runs_and_a_base_on_other_answers_are_refused(make_model: MakeModel) -> None:
    base = make_model("Base", ifbench=(30, 1, None))
    cut = make_model("Cut", ifbench=(30, 1, None), fields={"perturbation": {"name": "truncate", "fraction": 0.5}})
    with pytest.raises(ConfigError, match="cut has perturbed answers"):
        compared(base, cut)
    cross = make_model("SFT", ifbench=(30, 1, None), fields={"answers_from": "Qwen3.5-2B@Base"})
    with pytest.raises(ConfigError, match="the first run must be Base on its own answers"):
        compared(cross, base)


def on_base(make_run: MakeRun, rows_of: RowsOf, genuine: int, **fields: str) -> Path:
    """User turns of "model@SFT" on the answers of Base."""
    rows = []
    for row in rows_of("ifbench", 30, genuine, model="model@SFT"):
        query, answer, turn = row.messages
        rows.append(replace(row, messages=(query, replace(answer, by="Qwen3.5-2B@Base"), turn)))
    given = {"model": "model@SFT", "answers_from": "Qwen3.5-2B@Base", "format": "qwen3_5", **fields}
    return make_run("cross", rows, called="SFT", **given)


@pytest.mark.parametrize("how", ["given", "found"])
def test_the_cross_condition_is_compared_with_base_on_the_same_answers(
    make_run: MakeRun, make_model: MakeModel, rows_of: RowsOf, how: str
) -> None:
    base, sft = make_model("Base", ifbench=(30, 2, None)), make_model("SFT", ifbench=(30, 20, None))
    cross = on_base(make_run, rows_of, 12)
    found = compared(base, sft, cross=(cross,)) if how == "given" else compared(base, sft, cross)
    assert [model.name for model in found.models] == ["Base", "SFT"]
    (one,) = found.cross
    assert (one.model.name, one.metric.setting) == ("SFT on the answers of Base", "cross")
    assert one.evidence.rate == Rate(12, 30) and one.evidence.pairs == Pairs(2, 0, 10, 18)
    assert one.evidence.p_base == pytest.approx(2 / 2**10), "adjusted over the cross runs alone"
    assert cell(found, "SFT", "ifbench.genuine").evidence.rate == Rate(20, 30), "never pooled"


def test_cross_runs_on_the_answers_of_another_are_refused(
    make_run: MakeRun, make_model: MakeModel, rows_of: RowsOf
) -> None:
    base = make_model("Base", ifbench=(30, 2, None))
    with pytest.raises(ConfigError, match=r"cross has the answers of other@1, not of Base \(Qwen3\.5-2B@Base\)"):
        compared(base, on_base(make_run, rows_of, 12, answers_from="other@1"))
    with pytest.raises(ConfigError, match=r"sft has the answers of model@SFT, not of Base"):
        compared(base, cross=(make_model("SFT", ifbench=(30, 20, None)),))


def test_answers_of_base_made_otherwise_are_refused_or_marked(
    make_run: MakeRun, make_model: MakeModel, rows_of: RowsOf
) -> None:
    base = make_model("Base", ifbench=(30, 2, None))
    cross = on_base(make_run, rows_of, 12, answers_sha="another")
    with pytest.raises(ConfigError, match="answers_sha: 0 there, another here"):
        compared(base, cross)
    assert list(compared(base, cross, force=True).marks) == ["SFT on the answers of Base"]
