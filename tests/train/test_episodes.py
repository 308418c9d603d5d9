"""The ids of an episode and their attributes."""

from __future__ import annotations

from eval.dialogue import Dialogue, Message
from train.episodes import Episode


def episode() -> Episode:
    start = Episode(Dialogue("sums", (Message("user", "Add 7 to 5."),)), 3, (1, 2, 3))
    answered = start.with_turn(Message("assistant", "12", "tiny", "stop", 2), [4, 5], [-0.1, -0.2])
    return answered.with_template_ids([6, 7]).with_turn(Message("user", "Why", "tiny", "length", 1), [8], [-0.3])


def test_a_turn_is_sampled_after_everything_before_it() -> None:
    assert episode().ids == [1, 2, 3, 4, 5, 6, 7, 8]
    assert episode().completion_ids == [4, 5, 6, 7, 8]
    assert [message.text for message in episode().dialogue.messages] == ["Add 7 to 5.", "12", "Why"]


def test_what_was_not_sampled_and_what_was_cut_off_is_not_trained() -> None:
    assert episode().trained == [1, 1, 0, 0, 0]
    assert episode().roles == ["assistant", "assistant", None, None, "user"]
    assert episode().logprobs == [-0.1, -0.2, 0.0, 0.0, -0.3]


def test_without_the_log_probabilities_of_one_turn_there_are_none() -> None:
    silent = episode().with_turn(Message("assistant", "So", "tiny", "stop", 1), [9])
    assert silent.logprobs is None


def test_each_turn_has_the_credit_of_its_role_and_a_header_none() -> None:
    from dataclasses import replace

    assert episode().token_credit == [0.0] * 5
    assert replace(episode(), credit={"assistant": 0.5, "user": -2.0}).token_credit == [0.5, 0.5, 0.0, 0.0, -2.0]
