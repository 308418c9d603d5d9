"""Episodes with rewards and credit: graded, judged within a deadline, compared with their group.

It runs in one process for the episodes of all. It knows no trainer and no chat format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from eval.config import ConfigError
from eval.dialogue import Dialogue, Role
from eval.tasks import gsm8k
from train.episode_metrics import FIGURES, metrics
from train.episodes import Episode
from train.reward_judge import RewardJudge
from train.turn_credit import Scale, advantages, by_turn

BLIND = 3
"""Steps without any rewarded episode after which a run stops."""


@dataclass(frozen=True)
class RewardFunction:
    """A reward of the configuration."""

    turn: Role
    function: Callable[[Dialogue], float | None]


class Scored(NamedTuple):
    """The episodes of a step, and what they look like in numbers, always under the same names."""

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
    """Episodes of a prompt."""
    scale: Scale
    blind: int = field(default=0, init=False)
    """Steps up to now of which no episode could be rewarded."""

    @property
    def metric_names(self) -> list[str]:
        """Those of `Scored.metrics`."""
        return [*FIGURES, *(f"{metric}/{name}" for name in self.rewards for metric in ("weight", "zero_spread"))]

    def __call__(self, episodes: Sequence[Episode]) -> Scored:
        """Every episode with its dialogue graded and judged, its rewards, their advantages and its credit.

        Raises:
            ConfigError: the judge refuses, or no episode of several steps could be rewarded.
        """
        judged = self.judge.decide([episode.dialogue for episode in episodes])
        rewarded = [
            self._rewarded(replace(episode, dialogue=dialogue))
            for episode, dialogue in zip(episodes, judged, strict=True)
        ]
        self._stop_if_blind(rewarded)
        turns = {name: reward.turn for name, reward in self.rewards.items()}
        found = advantages([episode.rewards for episode in rewarded], self.group, self.scale)
        scored = [
            replace(episode, advantages=own, credit=by_turn(own, self.weights, turns, self.credit))
            for episode, own in zip(rewarded, found, strict=True)
        ]
        return Scored(scored, {**metrics(scored), **self._metrics(scored)})

    def _rewarded(self, episode: Episode) -> Episode:
        dialogue = replace(episode.dialogue, correct=gsm8k.check(episode.dialogue))
        rewards = {name: reward.function(dialogue) for name, reward in self.rewards.items()}
        return replace(episode, dialogue=dialogue, rewards=rewards)

    def _stop_if_blind(self, rewarded: Sequence[Episode]) -> None:
        self.blind = self.blind + 1 if all(None in episode.rewards.values() for episode in rewarded) else 0
        if self.blind < BLIND:
            return
        failures = [episode.dialogue.failure for episode in rewarded if episode.dialogue.failure]
        kinds = Counter(f"{failure.kind}: {failure.detail}" for failure in failures)
        why = kinds.most_common(1)[0][0] if kinds else "a reward does not know its episodes"
        raise ConfigError(f"no episode of {BLIND} steps could be rewarded, so that nothing is trained ({why})")

    def _metrics(self, scored: Sequence[Episode]) -> dict[str, float | None]:
        """Of each reward: its weight, and the share of groups in which it tells no episode from another."""
        found: dict[str, float | None] = {}
        starts = range(0, len(scored), self.group)
        for name in self.rewards:
            flat = [not any(e.advantages[name] for e in scored[start : start + self.group]) for start in starts]
            found[f"weight/{name}"] = self.weights[name]
            found[f"zero_spread/{name}"] = sum(flat) / len(flat) if flat else None
        return found
