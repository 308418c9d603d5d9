"""The project's own openings: each a question and a response, none of them an evaluation row."""

from __future__ import annotations

import pytest

from data_gen.seeds import written


def test_every_opening_ends_in_a_response() -> None:
    seeds = written.load()
    assert len(seeds) >= 100
    assert len({seed.id for seed in seeds}) == len(seeds)
    shapes = {"".join(message.role[0] for message in seed.messages) for seed in seeds}
    assert shapes <= {"ua", "sua", "uaua"}


def test_topics_and_limit_choose() -> None:
    seeds = written.load(topics=["math"])
    assert seeds and all(seed.meta["topic"] == "math" for seed in seeds)
    assert written.load(5, seed=1) == written.load(9, seed=1)[:5]


def test_an_unknown_topic_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no topic 'sport'; written\.jsonl has .*math"):
        written.load(topics=["math", "sport"])
