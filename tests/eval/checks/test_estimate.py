"""What is not known or not included is said, and what is not known or much is a warning."""

from __future__ import annotations

import pytest

from eval.checks.estimate import Estimate


@pytest.mark.parametrize(
    ("hours", "dollars", "status", "told"),
    [
        (1.5, 0.0, "pass", "1.50 h, 1,000 tokens, $0.00 at most (measured)"),
        (None, 2.0, "warn", "hours unknown, 1,000 tokens, $2.00 at most (measured)"),
        (1.5, None, "warn", "1.50 h, 1,000 tokens, dollars unknown (measured)"),
        (30.0, 0.0, "warn", "30.00 h"),
    ],
)
def test_an_estimate_is_a_line(hours, dollars, status, told) -> None:
    finding = Estimate(hours, 1000, dollars, "measured").finding()
    assert finding.status == status and told in finding.told


def test_every_doubt_has_its_advice() -> None:
    finding = Estimate(None, 1000, None, "not measured").finding()
    assert "no price" in finding.todo and "hours are unknown" in finding.todo


def test_what_the_hours_leave_out_is_beside_them() -> None:
    finding = Estimate(1.5, 1000, 0.0, "measured", ("sampling", "judging", "probes")).finding()
    assert finding.told.startswith("1.50 h without sampling, judging and probes, 1,000 tokens")
    finding = Estimate(1.5, 1000, 0.0, "measured", ("probes",)).finding()
    assert finding.told.startswith("1.50 h without probes, 1,000 tokens")
    assert Estimate(None, 1000, 0.0, "not measured", ("probes",)).finding().told.startswith("hours unknown, 1,000")
