"""No text of a gated set can be read from what is displayed, and equal texts can still be told to be equal."""

from __future__ import annotations

from dataclasses import replace

from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.gated_text import GATED, displayable

SECRET = "zebrafish"
ROW = Dialogue(
    "toy",
    (
        Message("user", f"Why {SECRET}?"),
        Message("assistant", f"As {SECRET}.", "m", "stop", 4, reasoning=f"so {SECRET}"),
        Message("user", "", "m", "stop", 1),
    ),
    reference="B",
    meta={"record": "rec1", **GATED},
    correct=True,
    judgement=Judgement("other", False, "judge-1", reply=f"about {SECRET}"),
    failure=Failure("judge", "refusal", f"no word on {SECRET} \ud800"),
)


def test_every_text_of_a_gated_row_is_withheld() -> None:
    shown = displayable(ROW)
    assert SECRET not in str(shown.to_json())
    assert shown.messages[0].text.startswith("[gated text withheld: 14 characters, SHA-256 ")
    assert shown.messages[2].text == "", "an empty turn is a finding"


def test_what_was_measured_stays() -> None:
    shown = displayable(ROW)
    assert (shown.id, shown.task, shown.reference, shown.correct, shown.state) == (ROW.id, "toy", "B", True, ROW.state)
    assert [(m.role, m.by, m.finish, m.tokens) for m in shown.messages] == [
        (m.role, m.by, m.finish, m.tokens) for m in ROW.messages
    ]
    assert shown.judgement and (shown.judgement.label, shown.judgement.judge) == ("other", "judge-1")
    assert shown.failure and shown.failure.kind == "refusal"


def test_equal_texts_are_shown_alike_and_others_are_not() -> None:
    other = replace(ROW, messages=(Message("user", f"Who {SECRET}?"), *ROW.messages[1:]))
    assert displayable(ROW) == displayable(replace(ROW))
    assert displayable(other).messages[0] != displayable(ROW).messages[0]
    assert displayable(other).messages[1] == displayable(ROW).messages[1]


def test_text_is_shown_on_request_and_that_of_other_sets_always() -> None:
    assert displayable(ROW, allow_gated_text=True) is ROW
    open_row = replace(ROW, meta={})
    assert displayable(open_row) is open_row
