"""Each second of a process is counted once, under the innermost name; a profile names the functions."""

from __future__ import annotations

import pstats
import threading
from pathlib import Path

import pytest

from eval import time_spent
from eval.time_spent import Clock, profiled


class Hands:
    """A clock's hands, moved by the test."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    moved = Hands()
    monkeypatch.setattr(time_spent, "time", moved)
    return moved


def test_what_is_inside_pauses_what_is_around_it(hands: Hands) -> None:
    clock = Clock()
    hands.now = 1
    with clock.spent("generate"):
        hands.now = 3
        with clock.spent("prefill"):
            hands.now = 7
        hands.now = 8
    hands.now = 16
    assert clock.seconds() == {"bookkeeping": 9, "generate": 3, "prefill": 4}


def test_an_iterator_is_charged_for_its_items_and_not_for_their_use(hands: Hands) -> None:
    clock = Clock()

    def drawn() -> object:
        for _ in range(3):
            hands.now += 10
            yield

    def judged() -> object:
        for _ in clock.each("bookkeeping", drawn()):
            hands.now += 100
            yield

    for _ in clock.each("judge", judged()):
        hands.now += 1000
    assert clock.seconds() == {"bookkeeping": 3030, "judge": 300}


def test_an_error_ends_what_was_entered_and_other_threads_count_nothing(hands: Hands) -> None:
    clock = Clock()
    with pytest.raises(OSError), clock.spent("load"):
        hands.now = 2
        raise OSError

    def elsewhere() -> None:
        with clock.spent("decode"):
            hands.now = 5

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert clock.seconds() == {"load": 2, "bookkeeping": 3}


def test_a_profile_names_the_functions_even_of_a_run_that_fails(tmp_path: Path) -> None:
    def work() -> None:
        raise OSError

    with pytest.raises(OSError), profiled(tmp_path / "profile.pstats"):
        work()
    stats = pstats.Stats(str(tmp_path / "profile.pstats"))
    assert any(name == "work" for _, _, name in stats.stats)  # type: ignore[attr-defined]
    with profiled(None):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["profile.pstats"]
