"""Scores the episodes of a step: grades and judges them within a deadline, and computes rewards, advantages and credit.

Runs in one process, for the episodes of all processes. Knows no trainer and no chat format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from eval.config import ConfigError
from eval.dialogue import Dialogue, Role
from eval.grading.answers import grade_number
from train.episode_metrics import METRICS, metrics
from train.episodes import Episode
from train.reward_judge import RewardJudge
from train.turn_credit import Scale, advantages, by_turn

MAX_STEPS_WITHOUT_REWARD = 3
"""A run stops after this many consecutive steps in which every episode has an unknown reward."""


@dataclass(frozen=True)
class RewardFunction:
    """A reward of the configuration."""

    turn: Role
    function: Callable[[Dialogue], float | None]


class Scored(NamedTuple):
    """The scored episodes of a step, and metrics of them, which always have the same names."""

    episodes: list[Episode]
    metrics: dict[str, float | None]


@dataclass
class Scorer:
    """Scores the episodes of a step. `weights` may change between two steps."""

    rewards: Mapping[str, RewardFunction]
    weights: dict[str, float]
    judge: RewardJudge
    credit: Literal["turn", "episode"]
    group: int
    """Episodes per prompt."""
    scale: Scale
    steps_without_reward: int = field(default=0, init=False)
    """Consecutive steps up to now in which no episode had all its rewards."""

    @property
    def metric_names(self) -> list[str]:
        """The names in `Scored.metrics`."""
        return [*METRICS, *(f"{metric}/{name}" for name in self.rewards for metric in ("weight", "zero_spread"))]

    def __call__(self, episodes: Sequence[Episode]) -> Scored:
        """The episodes with graded and judged dialogues, rewards, advantages and credit.

        `Dialogue.correct` says whether the answer's number equals the reference, whichever source the prompt is from;
        it is None for a prompt without a numeric reference.

        Raises:
            ConfigError: the judge raises one, or no episode got a reward in `MAX_STEPS_WITHOUT_REWARD` steps.
        """
        judged = self.judge.decide([episode.dialogue for episode in episodes])
        rewarded = [
            self._rewarded(replace(episode, dialogue=dialogue))
            for episode, dialogue in zip(episodes, judged, strict=True)
        ]
        self._stop_without_rewards(rewarded)
        turns = {name: reward.turn for name, reward in self.rewards.items()}
        by_reward = advantages([episode.rewards for episode in rewarded], self.group, self.scale)
        scored = [
            replace(episode, advantages=own, credit=by_turn(own, self.weights, turns, self.credit))
            for episode, own in zip(rewarded, by_reward, strict=True)
        ]
        return Scored(scored, {**metrics(scored), **self._metrics(scored)})

    def _rewarded(self, episode: Episode) -> Episode:
        dialogue = replace(episode.dialogue, correct=grade_number(episode.dialogue))
        rewards = {name: reward.function(dialogue) for name, reward in self.rewards.items()}
        return replace(episode, dialogue=dialogue, rewards=rewards)

    def _stop_without_rewards(self, rewarded: Sequence[Episode]) -> None:
        none_rewarded = all(None in episode.rewards.values() for episode in rewarded)
        self.steps_without_reward = self.steps_without_reward + 1 if none_rewarded else 0
        if self.steps_without_reward < MAX_STEPS_WITHOUT_REWARD:
            return
        failures = [episode.dialogue.failure for episode in rewarded if episode.dialogue.failure]
        kinds = Counter(f"{failure.kind}: {failure.detail}" for failure in failures)
        why = kinds.most_common(1)[0][0] if kinds else "a reward is unknown for every episode"
        raise ConfigError(
            f"no episode of {MAX_STEPS_WITHOUT_REWARD} consecutive steps got a reward, so nothing is trained ({why})"
        )

    def _metrics(self, scored: Sequence[Episode]) -> dict[str, float | None]:
        """For each reward, its weight and the share of groups in which all its advantages are 0."""
        values: dict[str, float | None] = {}
        starts = range(0, len(scored), self.group)
        for name in self.rewards:
            flat = [not any(e.advantages[name] for e in scored[start : start + self.group]) for start in starts]
            values[f"weight/{name}"] = self.weights[name]
            values[f"zero_spread/{name}"] = sum(flat) / len(flat) if flat else None
        return values
