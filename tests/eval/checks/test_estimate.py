"""What is not known is said, and what is much is a warning."""

from __future__ import annotations

import pytest

from eval.checks.estimate import Estimate


@pytest.mark.parametrize(
    ("hours", "dollars", "status", "told"),
    [
        (1.5, 0.0, "pass", "1.50 h, 1,000 tokens, $0.00 at most (measured)"),
        (None, 2.0, "pass", "hours unknown"),
        (1.5, None, "warn", "1.50 h, 1,000 tokens, dollars unknown (measured)"),
        (30.0, 0.0, "warn", "30.00 h"),
    ],
)
def test_an_estimate_is_a_line(hours, dollars, status, told) -> None:
    finding = Estimate(hours, 1000, dollars, "measured").finding()
    assert finding.status == status and told in finding.told
