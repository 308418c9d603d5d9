"""Each verdict on constructed counts, and what decides between two of them."""

from __future__ import annotations

import pytest

from eval.model_comparison.verdict import Claim, Evidence, find
from eval.stats.paired import Pairs
from eval.stats.rates import Rate, same_rate_p


def evidence(rate: Rate, claim: Claim | None, pairs: Pairs | None = None, total: int | None = None) -> Evidence:
    """As a table of this metric alone has it: nothing to adjust."""
    p_paper = same_rate_p(rate, claim.rate) if claim else None
    return Evidence(rate, rate.n if total is None else total, pairs, pairs.p_value if pairs else None, p_paper)


UP = Pairs(both=2, only_first=1, only_second=140, neither=157)
DOWN = Pairs(both=2, only_first=140, only_second=1, neither=157)
EVEN = Pairs(both=2, only_first=3, only_second=4, neither=291)
SFT = Claim(48.0, 1.0, 300)
"""The paper's IFBench metric of SFT: up from Base."""
BASE = Claim(62.9, None, 1319)


def test_not_run() -> None:
    found = find(evidence(Rate(0, 0), SFT, Pairs(0, 0, 0, 0, left_out=300)), SFT)
    assert (found.verdict, found.because) == ("not run", "no such rows")
    assert find(evidence(Rate(0, 0), None, None), None).verdict == "not run"


def test_no_paper_value_still_says_the_direction() -> None:
    assert find(evidence(Rate(142, 300), None, UP), None).because == "up from Base"
    assert find(evidence(Rate(3, 300), None, DOWN), None).because == "down from Base"
    assert find(evidence(Rate(6, 300), None, EVEN), None).because == "no difference to Base shown"
    assert find(evidence(Rate(6, 300), None), None).because == "Base itself"
    assert find(evidence(Rate(6, 300), None, UP), None).verdict == "no paper value"


def test_reproduced_needs_the_value_and_the_direction() -> None:
    found = find(evidence(Rate(142, 300), SFT, UP), SFT)
    assert found.verdict == "reproduced"
    assert found.because == "value inside; up, as in the paper"
    without = find(evidence(Rate(142, 300), SFT, EVEN), SFT)
    assert (without.verdict, without.because) == ("not resolved", "no difference to Base shown")


def test_base_is_reproduced_by_its_value_alone() -> None:
    assert find(evidence(Rate(829, 1319), BASE), BASE).verdict == "reproduced"
    # Half a point above the upper end: outside, but two samples of 1319 differ by that now and then.
    near = find(evidence(Rate(790, 1319), BASE), BASE)
    assert near.verdict == "not resolved" and near.because == "value outside, within sampling error"
    far = find(evidence(Rate(740, 1319), BASE), BASE)
    assert (far.verdict, far.because) == ("contradicted", "value outside, beyond sampling error")


@pytest.mark.parametrize("end", ["low", "high"])
def test_the_ends_of_the_interval_belong_to_it(end: str) -> None:
    rate = Rate(829, 1319)
    value = 100 * getattr(rate.interval(), end)
    for beyond, verdict in ((0.0, "reproduced"), (1e-6 if end == "high" else -1e-6, "not resolved")):
        claim = Claim(value + beyond, None, 1319)
        assert find(evidence(rate, claim), claim).verdict == verdict


def test_contradicted_by_direction_whatever_the_value() -> None:
    # The value is the paper's, but on these rows Base was even higher.
    found = find(evidence(Rate(142, 300), SFT, DOWN), SFT)
    assert (found.verdict, found.because) == ("contradicted", "down from Base, up in the paper")
    fell = Claim(40.3, 62.9, 1319)
    assert find(evidence(Rate(532, 1319), fell, UP), fell).because == "up from Base, down in the paper"


def test_contradicted_by_value_in_the_right_direction() -> None:
    found = find(evidence(Rate(240, 300), SFT, UP), SFT)
    assert (found.verdict, found.because) == ("contradicted", "value outside, beyond sampling error")


def test_not_resolved_tells_all_that_is_open() -> None:
    found = find(evidence(Rate(122, 300), SFT, EVEN), SFT)
    assert found.verdict == "not resolved"
    assert found.because == "value outside, within sampling error; no difference to Base shown"
    assert find(evidence(Rate(0, 0), SFT, Pairs(0, 0, 0, 0), total=300), SFT).because == "no row has an outcome"
    alone = find(evidence(Rate(142, 300), SFT, Pairs(0, 0, 0, 0, left_out=600)), SFT)
    assert (alone.verdict, alone.because) == ("not resolved", "no row has an outcome in both Base and this run")


def test_ties_show_no_difference() -> None:
    ties = Pairs(both=144, only_first=0, only_second=0, neither=156)
    assert ties.p_value == 1.0
    assert find(evidence(Rate(144, 300), SFT, ties), SFT).because == "no difference to Base shown"


def test_a_small_sample_resolves_nothing() -> None:
    coval = Claim(29.0, 19.4, 93)
    assert find(evidence(Rate(27, 93), coval, Pairs(12, 6, 15, 60)), coval).verdict == "not resolved"


def test_a_model_that_the_paper_has_level_with_base_is_compared_by_value_alone() -> None:
    level = Claim(10.0, 10.0, 300)
    assert level.direction == 0
    assert find(evidence(Rate(30, 300), level, EVEN), level).verdict == "reproduced"


def test_only_the_adjusted_p_values_count() -> None:
    shown = Evidence(Rate(142, 300), 300, UP, p_base=0.2, p_paper=1.0)
    assert find(shown, SFT).verdict == "not resolved"
    far = Evidence(Rate(240, 300), 300, UP, p_base=0.001, p_paper=0.2)
    assert find(far, SFT).verdict == "not resolved"


def test_a_claim_is_the_count_that_prints_as_its_value() -> None:
    assert SFT.rate == Rate(144, 300) and BASE.rate == Rate(830, 1319)
    assert (SFT.direction, BASE.direction, Claim(40.3, 62.9, 1319).direction) == (1, 0, -1)
