"""Episodes graded, judged, rewarded and credited, with metrics that always have the same names."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.labels import LABELS
from train.episodes import Episode
from train.reward_judge import RewardJudge
from train.rewards import followup, gsm8k
from train.scoring import RewardFunction, Scorer

REWARDS = {
    "gsm8k": RewardFunction(gsm8k.TURN, gsm8k.reward),
    "followup": RewardFunction(followup.TURN, functools.partial(followup.reward, rate="genuine")),
}


class ByFirstWord:
    """Finds a turn genuine that begins with "Why", and fails on "Hm"."""

    id, measured, cost_bound = "fake", {}, 0.0

    def judge(self, dialogues: Iterable[Dialogue]) -> Any:
        for dialogue in dialogues:
            text = dialogue.messages[-1].text
            if text.startswith("Hm"):
                yield dialogue, Failure("judge", "refusal")
            else:
                genuine = text.startswith("Why")
                yield dialogue, Judgement("genuine_followup" if genuine else "other", genuine, self.id)


def episode(row: int, answer: str, turn: str, finish: str = "stop") -> Episode:
    start = Episode(Dialogue("sums", (Message("user", "Add 7 to 5."),), reference="12"), row, (1, 2))
    answered = start.with_turn(Message("assistant", answer, "tiny", finish, 2), [3, 4]).with_template_ids([5])
    return answered.with_turn(Message("user", turn, "tiny", "stop", 1), [6])


EPISODES = [
    episode(0, "#### 12", "Why 12?"),
    episode(1, "#### 13", "Thanks."),
    episode(2, "#### 12", "Hm"),
    episode(3, "#### 12", "Why?", finish="length"),
]


def scorer(credit: str = "turn", **weights: float) -> Scorer:
    return Scorer(
        REWARDS, {"gsm8k": 1.0, "followup": 1.0, **weights}, RewardJudge(ByFirstWord(), 10.0), credit, 4, "none"
    )


def test_the_grade_is_of_the_number_whichever_source_the_prompt_is_from() -> None:
    assert all(e.dialogue.task == "sums" for e in EPISODES)
    no_reference = [replace(e, dialogue=replace(e.dialogue, reference=None)) for e in EPISODES]
    assert [e.dialogue.correct for e in scorer()(no_reference).episodes] == [None] * 4


def test_rewards_come_from_grade_and_judgement() -> None:
    scored = scorer()(EPISODES).episodes
    assert [e.rewards for e in scored] == [
        {"gsm8k": 1.0, "followup": 1.0},
        {"gsm8k": 0.0, "followup": 0.0},
        {"gsm8k": 1.0, "followup": None},
        {"gsm8k": 0.0, "followup": 1.0},
    ]
    assert [e.dialogue.correct for e in scored] == [True, False, True, False]
    assert scored[2].dialogue.failure.kind == "refusal"


def test_credit_is_for_the_turn_and_an_unknown_episode_has_none() -> None:
    scored = scorer(followup=2.0)(EPISODES).episodes
    # Without the unknown one: gsm8k 1, 0, 0 and followup 1, 0, 1.
    assert [e.credit["assistant"] for e in scored] == pytest.approx([2 / 3, -1 / 3, 0, -1 / 3])
    assert [e.credit["user"] for e in scored] == pytest.approx([2 / 3, -4 / 3, 0, 2 / 3])
    both = scorer("episode")(EPISODES).episodes
    assert [e.credit["assistant"] for e in both] == [e.credit["user"] for e in both] == pytest.approx([1, -1, 0, 0])


def test_metrics_say_what_the_step_looks_like() -> None:
    found = scorer(gsm8k=1.5)(EPISODES)
    assert list(found.metrics) == list(scorer().metric_names)
    expected = {
        "unknown_share": 1 / 4,
        "judged_share": 3 / 4,
        "genuine_share": 2 / 3,
        "specific_share": 2 / 3,
        "questions_share": 2 / 4,
        "distinct_share": 1.0,
        "cut_off/assistant": 1 / 4,
        "cut_off/user": 0.0,
        "tokens/assistant": 2.0,
        "tokens/user": 1.0,
        "characters/user": (7 + 7 + 2 + 4) / 4,
        "labels/other": 1 / 3,
        "labels/meta_planning": 0.0,
        "weight/gsm8k": 1.5,
        "zero_spread/gsm8k": 0.0,
    }
    assert {name: found.metrics[name] for name in expected} == pytest.approx(expected)
    assert math.isclose(sum(found.metrics[f"labels/{label}"] for label in LABELS), 1.0)


def test_a_group_whose_rewards_are_all_alike_is_counted() -> None:
    found = scorer()([EPISODES[0]] * 4)
    assert found.metrics["zero_spread/gsm8k"] == found.metrics["zero_spread/followup"] == 1.0
    assert found.metrics["distinct_share"] == 1 / 4


def test_steps_in_which_nothing_could_be_rewarded_stop_the_run() -> None:
    score, unknown = scorer(), [EPISODES[2]] * 4
    score(unknown), score(unknown), score(EPISODES), score(unknown), score(unknown)
    with pytest.raises(ConfigError, match=r"no episode of 3 consecutive steps got a reward.*refusal"):
        score(unknown)


def test_a_step_without_any_judgement_has_the_same_names() -> None:
    found = scorer()([EPISODES[2]] * 4)
    assert list(found.metrics) == list(scorer().metric_names)
    assert found.metrics["genuine_share"] is None and found.metrics["unknown_share"] == 1.0
    assert not any(value for e in found.episodes for value in e.credit.values())
