"""The rollout of a step, for TRL's `rollout_func`: samples each turn, scores the episodes and credits each turn.

    GRPOTrainer(..., rollout_func=Rollout(...))

The trainer's prompts are dialogue ids, so that only the chat format renders text. The ids that are sampled are the ids
that are trained on; nothing is decoded and tokenized again.
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
"""(step, all episodes of the step) -> the episodes with rewards, advantages and credit, and their metrics."""


@dataclass(frozen=True)
class Rollout:
    """Generates episodes with the policy of a trainer."""

    dialogues: Mapping[str, Dialogue]
    """The dialogues that episodes start from, by id."""
    chat_format: ChatFormat
    boundary: TurnBoundary | None
    """Between answer and user turn; None if the answer is stored text."""
    answer_tokens: int
    user_tokens: int
    seed: int
    name: str
    """Name of the policy, recorded as the author of its turns."""
    score: Score
    metric_names: Sequence[str]
    """Names of the metrics that `score` returns."""
    before: Callable[[GRPOTrainer], None] = lambda trainer: None
    """Called with the trainer before sampling, after the trainer has synced its weights to the sampler."""

    def __call__(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        """TRL's rollout columns for the episodes of this process, plus our columns `credit` and `rewards`."""
        self.before(trainer)
        step, copies = trainer.state.global_step, int(trainer.num_generations or 1)
        first = trainer.accelerator.process_index * len(prompts)
        episodes = [self._start(self.dialogues[id], first + index) for index, id in enumerate(prompts)]
        if self.boundary is not None:
            episodes = self._sample(trainer, step, episodes, "assistant", copies)
            episodes = [episode.with_template_ids(self.boundary.after(episode.completion_ids)) for episode in episodes]
            episodes = self._sample(trainer, step, episodes, "user", 1)
        else:
            episodes = self._sample(trainer, step, episodes, "user", copies)
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

    def _sample(
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
            episode.with_turn(self._message(turn.ids, role, step), turn.ids, turn.logprobs)
            for episode, turn in zip(episodes, sampled, strict=True)
        ]

    def _message(self, ids: Sequence[int], role: Literal["assistant", "user"], step: int) -> Message:
        turn = self.chat_format.clean(ids, role)
        return Message(role, turn.text, f"{self.name}@step-{step:06d}", turn.finish, len(ids), turn.reasoning)

    def _score_all(self, step: int, episodes: list[Episode]) -> Scored:
        """Score the episodes of all processes in the main process, with one judge and its budget."""
        from accelerate.utils import gather_object

        everyone: list[Episode] = gather_object(episodes)
        return run_on_main(lambda: self.score(step, everyone))
