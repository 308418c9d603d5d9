"""The episodes of a step, for TRL's `rollout_func`: each turn sampled, the whole scored, credit given to each turn.

    GRPOTrainer(..., rollout_func=Rollout(...))

The trainer's prompts are ids of dialogues, so that no text is rendered but by the chat format. The ids of a row that
is sampled are those that it is trained on; nothing is decoded and tokenized again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from eval.dialogue import Dialogue, Message, content_hash
from eval.rendering.chat_format import ChatFormat
from train.episodes import Episode
from train.main_process import run_on_main
from train.scoring import Scored
from train.turn_boundary import TurnBoundary
from train.turn_generation import TurnLimits, generate

if TYPE_CHECKING:
    from trl import GRPOTrainer

Score = Callable[[int, list[Episode]], Scored]
"""(step, every episode of the step) -> the same with rewards, advantages and credit, and metrics of them."""


@dataclass(frozen=True)
class Rollout:
    """Plays episodes with the policy of a trainer."""

    dialogues: Mapping[str, Dialogue]
    """What episodes start from, by id."""
    chat_format: ChatFormat
    boundary: TurnBoundary | None
    """Between answer and user's turn; None where the answer is stored text."""
    answer_tokens: int
    user_tokens: int
    seed: int
    name: str
    """Of the policy, as who spoke a turn."""
    score: Score
    metric_names: Sequence[str]
    """Of the metrics that `score` gives."""
    before: Callable[[GRPOTrainer], None] = lambda trainer: None
    """Is called with the trainer before episodes are sampled, when its sampler has its weights."""

    def __call__(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        """What TRL needs of the episodes of this process; `credit` and `rewards` are columns of ours."""
        self.before(trainer)
        step, copies = trainer.state.global_step, int(trainer.num_generations or 1)
        first = trainer.accelerator.process_index * len(prompts)
        episodes = [self._start(self.dialogues[id], first + place) for place, id in enumerate(prompts)]
        if self.boundary is not None:
            episodes = self._speak(trainer, step, episodes, "assistant", copies)
            episodes = [episode.followed_by(self.boundary.after(episode.completion_ids)) for episode in episodes]
            episodes = self._speak(trainer, step, episodes, "user", 1)
        else:
            episodes = self._speak(trainer, step, episodes, "user", copies)
        everyone, metrics = self._score_all(step, episodes)
        for name, value in metrics.items():
            trainer._metrics["train"][name].append(math.nan if value is None else value)
        scored = everyone[first : first + len(prompts)]
        logprobs = [episode.logprobs for episode in scored]
        return {
            "prompt_ids": [list(episode.prompt_ids) for episode in scored],
            "completion_ids": [episode.completion_ids for episode in scored],
            "logprobs": None if None in logprobs else logprobs,
            "env_mask": [episode.trained for episode in scored],
            "credit": [episode.token_credit for episode in scored],
            "rewards": [episode.rewards for episode in scored],
        }

    def _start(self, dialogue: Dialogue, row: int) -> Episode:
        role = "user" if self.boundary is None else "assistant"
        return Episode(dialogue, row, tuple(self.chat_format.open_turn(dialogue.messages, role)))

    def _speak(
        self,
        trainer: GRPOTrainer,
        step: int,
        episodes: Sequence[Episode],
        role: Literal["assistant", "user"],
        copies: int,
    ) -> list[Episode]:
        limits = TurnLimits(
            self.chat_format.stop_ids(role), self.answer_tokens if role == "assistant" else self.user_tokens
        )
        seeds = [int(content_hash([self.seed, step, episode.row, role]), 16) for episode in episodes]
        sampled = generate(trainer, [episode.ids for episode in episodes], limits, seeds, copies)
        return [
            episode.said(self._message(turn.ids, role, step), turn.ids, turn.logprobs)
            for episode, turn in zip(episodes, sampled, strict=True)
        ]

    def _message(self, ids: Sequence[int], role: Literal["assistant", "user"], step: int) -> Message:
        said = self.chat_format.clean(ids, role)
        return Message(role, said.text, f"{self.name}@step-{step:06d}", said.finish, len(ids), said.reasoning)

    def _score_all(self, step: int, episodes: list[Episode]) -> Scored:
        """Score the episodes of every process in one place, with one judge and its one budget."""
        from accelerate.utils import gather_object

        everyone: list[Episode] = gather_object(episodes)
        return run_on_main(lambda: self.score(step, everyone))
