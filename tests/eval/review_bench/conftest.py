"""Items and stores of reviews."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eval.dialogue import Dialogue, Judgement, Message
from eval.review_bench.items import ReviewItem
from eval.review_bench.store import ReviewStore


def item(number: int, *decisions: bool, turn: str = "", weight: float = 1.0) -> ReviewItem:
    """An item on a query of its own; `decisions` are those of judges j0, j1, ..."""
    said = (Message("user", f"query {number}"), Message("assistant", f"answer {number}"))
    turn = turn or f"turn {number}"
    judgements = tuple(
        Judgement("generic_followup" if genuine else "other", genuine, f"j{judge}")
        for judge, genuine in enumerate(decisions)
    )
    return ReviewItem(Dialogue("pocket", (*said, Message("user", turn, "tiny@0123", "stop"))), 0.5, judgements, weight)


@pytest.fixture
def item_of() -> Callable[..., ReviewItem]:
    """`item`: an item with known judgements."""
    return item


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ReviewStore]:
    """A review of three items, judged no, yes, yes by j0 and no, no, yes by j1."""
    items = [item(1, False, False), item(2, True, False), item(3, True, True)]
    with ReviewStore.create(tmp_path / "review.sqlite", items, {"sample": "all", "seed": 0, "gated": False}) as store:
        yield store
