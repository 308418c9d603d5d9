from __future__ import annotations

import pytest

from eval.client.chat_reply import Reply
from eval.client.reply_ledger import HOPELESS, ReplyLedger
from eval.config import ConfigError


def ledger(unreadable: int) -> ReplyLedger:
    kept = ReplyLedger()
    for number in range(unreadable):
        kept.replied(Reply("x", "stop", None, None if number else "m-1", None))
        kept.unreadable("not_json", f"text {number}")
    return kept


def test_questions_and_models_are_counted() -> None:
    kept = ledger(2)
    kept.good("judged")
    kept.good("known before")
    kept.failed("budget")
    assert kept.measured == {
        "questions": {"not_json": 2, "judged": 1, "known before": 1, "budget": 1},
        "models": {"m-1": 1, "unnamed": 1},
    }


def test_it_stops_when_many_replies_were_unreadable_and_none_was_read() -> None:
    ledger(HOPELESS - 1).stop_if_hopeless("judge-1", "verdict", "judge.max")
    with pytest.raises(
        ConfigError, match=rf"{HOPELESS} replies of judge-1 contain no verdict.*text 19.*raise judge\.max"
    ):
        ledger(HOPELESS).stop_if_hopeless("judge-1", "verdict", "judge.max")


@pytest.mark.parametrize("end", ["judged", "known before"])
def test_one_answer_new_or_known_is_hope(end: str) -> None:
    kept = ledger(3 * HOPELESS)
    kept.good(end)
    kept.stop_if_hopeless("judge-1", "verdict", "judge.max")


def test_failures_without_a_reply_are_not_the_models() -> None:
    kept = ReplyLedger()
    for _ in range(3 * HOPELESS):
        kept.failed("budget")
    kept.stop_if_hopeless("judge-1", "verdict", "judge.max")
