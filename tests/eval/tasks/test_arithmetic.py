"""The generated problems: their answers, splits and order."""

from __future__ import annotations

import re

import pytest

from eval.dialogue import Message
from eval.held_out import is_for_training
from eval.tasks import arithmetic, pocket

ANSWERS = (
    (r"has (\d+) \w+ and finds (\d+) more", lambda a, b: a + b),
    (r"had (\d+) \w+ and gave away (\d+)\.", lambda a, b: a - b),
    (r"picks (\d+) \w+ and then (\d+) more", lambda a, b: a + b),
    (r"There are (\d+) \w+ in a \w+\. \w+ takes out (\d+)\.", lambda a, b: a - b),
    (r"has (\d+) \w+ with (\d+) \w+ in each", lambda a, b: a * b),
)


def question(dialogue) -> str:
    return dialogue.messages[0].text.split("\n")[0]


@pytest.mark.parametrize("split", ["train", "test"])
def test_every_answer_is_right(split: str) -> None:
    kinds = set()
    for dialogue in arithmetic.load(split=split):
        for pattern, answer in ANSWERS:
            if found := re.search(pattern, question(dialogue)):
                assert dialogue.reference == str(answer(int(found[1]), int(found[2]))), question(dialogue)
                kinds.add(pattern)
                break
        else:
            pytest.fail(question(dialogue))
        assert 0 < int(dialogue.reference) <= 108
    assert len(kinds) == len(ANSWERS)


def test_train_and_test_share_no_problem_and_only_train_is_trained_on() -> None:
    train, test = arithmetic.load(split="train"), arithmetic.load(split="test")
    assert (len(train), len(test)) == (1600, 400)
    assert len({question(dialogue) for dialogue in train + test}) == 2000
    assert all(map(is_for_training, train)) and not any(map(is_for_training, test))


def test_no_problem_is_in_pocket() -> None:
    asked = {question(dialogue) for dialogue in arithmetic.load(split="train")}
    assert not asked & {question(dialogue) for dialogue in pocket.load()}


def test_a_larger_limit_only_adds_problems_and_another_seed_chooses_others() -> None:
    few, more = arithmetic.load(5, seed=3), arithmetic.load(50, seed=3)
    assert [d.id for d in few] == [d.id for d in more][:5]
    assert {d.id for d in few} != {d.id for d in arithmetic.load(5, seed=4)}


def test_an_answer_is_graded_by_its_number() -> None:
    problem = arithmetic.load(1)[0]
    assert arithmetic.check(problem) is None
    assert arithmetic.check(problem.says(Message("assistant", f"So it is\n#### {problem.reference}"))) is True
    assert arithmetic.check(problem.says(Message("assistant", "#### 1234"))) is False
