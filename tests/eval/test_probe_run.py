"""What is said of a run in which no row was judged."""

from __future__ import annotations

from dataclasses import replace

from eval.dialogue import Dialogue, Failure, Message
from eval.gated_text import GATED
from eval.probe_run import nothing_judged

ROW = Dialogue("toy", (Message("user", "Why?"),), failure=Failure("judge", "unknown_label", "about zebrafish"))


def test_the_most_common_failure_is_told_with_an_example() -> None:
    other = replace(ROW, failure=Failure("generate", "empty_prompt"))
    told = nothing_judged([other, ROW, ROW])
    assert told == "no row was judged: 2 of 3 failed to judge (unknown_label), such as: about zebrafish"


def test_a_gated_row_is_counted_and_not_quoted() -> None:
    told = nothing_judged([replace(ROW, meta=GATED)])
    assert "1 of 1 failed to judge (unknown_label)" in told and "zebrafish" not in told
