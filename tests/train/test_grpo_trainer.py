"""The trainer on episodes of a tiny model: sampled ids are the scored ids, and the right tokens get gradients."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from eval.dialogue import Dialogue, Judgement, Message
from eval.formats.qwen3_5 import Format as Qwen
from eval.formats.smollm2 import Format as SmolLM2
from train.episodes import Episode
from train.grpo_arguments import steps_per_batch
from train.grpo_trainer import column, make_trainer
from train.preemption import PREEMPTION, Preempted, train_until_preempted
from train.reward_judge import RewardJudge
from train.rollout import Rollout
from train.scoring import RewardFunction, Scorer
from train.trainer_events import listener
from train.training_config import Lora
from train.turn_boundary import TurnBoundary

FAMILIES = {"llama": SmolLM2, "qwen3_5": Qwen}
ADAPTERS = Lora(r=4)
PROMPTS = [Dialogue("sums", (Message("user", f"Add 7 to {n}."),), reference=str(n + 7)) for n in range(6)]


def ending_often(family: type) -> type:
    """The family, with every token that is no ASCII text as a further stop: a random model ends some of its turns."""

    class EndingOften(family):
        def stop_ids(self, role: str) -> frozenset[int]:
            odd = {token for token in range(len(self.tokenizer)) if not self.decode([token]).isascii()}
            return super().stop_ids(role) | odd

    return EndingOften


class Lengths:
    """A judge that finds every second turn genuine, by its length."""

    id, measured, cost_bound = "lengths", {}, 0.0

    def judge(self, dialogues: Any) -> Any:
        for dialogue in dialogues:
            genuine = len(dialogue.messages[-1].text) % 2 == 0
            yield dialogue, Judgement("genuine_followup" if genuine else "other", genuine, self.id)


class Played:
    """A trainer of a tiny model, and everything that passed through it."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        folder: Path,
        *,
        name: str = "llama",
        rewards: dict[str, RewardFunction] | None = None,
        lora: Lora | None = ADAPTERS,
        credit: str = "turn",
        **settings: Any,
    ) -> None:
        from trl import GRPOConfig

        arguments = {
            "per_device_train_batch_size": 8,
            "num_generations": 4,
            "max_steps": 2,
            "learning_rate": 1e-3,
            "max_completion_length": 64,
            "gradient_checkpointing": False,
            "bf16": False,
            "dataloader_pin_memory": False,
            "report_to": [],
            "logging_steps": 1,
            "save_strategy": "no",
            "disable_tqdm": True,
            "remove_unused_columns": False,
        }
        family = ending_often(FAMILIES[name])
        chat_format = family(tokenizer)
        self.episodes: list[list[Episode]] = []
        self.generated: list[tuple[list[list[int]], list[list[int]]]] = []
        self.losses: list[dict[str, Any]] = []
        self.gradients: list[torch.Tensor] = []
        """Of the loss, by the log-probability of each id of the completions."""
        scorer = Scorer(
            rewards=rewards or {"length": RewardFunction("user", lambda dialogue: float(dialogue.judgement.genuine))},
            weights=dict.fromkeys(rewards or ["length"], 1.0),
            judge=RewardJudge(Lengths(), 10.0),
            credit=credit,
            group=4,
            scale="group",
        )

        def score(step: int, episodes: Sequence[Episode]) -> Any:
            scored = scorer(episodes)
            self.episodes.append(scored.episodes)
            return scored

        boundary = TurnBoundary(chat_format, family(tokenizer, history="as_last"))
        prompts = {dialogue.id: dialogue for dialogue in PROMPTS}
        rollout = Rollout(prompts, chat_format, boundary, 12, 9, 0, "tiny", score, scorer.metric_names)
        self.trainer = make_trainer(
            model, tokenizer, GRPOConfig(str(folder), **{**arguments, **settings}), rollout, list(scorer.rewards), lora
        )
        self._listen()

    def _listen(self) -> None:
        trainer = self.trainer
        generate, compute = trainer._generate_single_turn, trainer._compute_loss
        score = trainer._get_per_token_logps_and_entropies

        def generated(prompts: Any, *others: Any) -> Any:
            turns, logprobs = generate(prompts, *others)
            self.generated.append((prompts, turns))
            return turns, logprobs

        def computed(model: Any, inputs: Any) -> Any:
            self.losses.append(dict(inputs))
            return compute(model, inputs)

        def scored(*args: Any, **kwargs: Any) -> Any:
            logps, *others = score(*args, **kwargs)
            if logps.requires_grad:
                logps.register_hook(self.gradients.append)
            return logps, *others

        trainer._generate_single_turn, trainer._compute_loss = generated, computed
        trainer._get_per_token_logps_and_entropies = scored


@pytest.fixture(scope="module")
def play(
    tiny_model: Any, smollm2_tokenizer: Any, qwen3_5_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Played]:
    tokenizers = {"llama": smollm2_tokenizer, "qwen3_5": qwen3_5_tokenizer}

    def make(name: str = "llama", **settings: Any) -> Played:
        tokenizer = tokenizers[name]
        return Played(tiny_model(name, len(tokenizer)), tokenizer, tmp_path_factory.mktemp(name), name=name, **settings)

    return make


@pytest.fixture(scope="module", params=FAMILIES)
def played(request: pytest.FixtureRequest, play: Callable[..., Played]) -> Played:
    """Two steps of a tiny model of each architecture; only user turns are rewarded, without a KL term."""
    played = play(request.param, beta=0.0)
    played.trainer.train()
    return played


def test_the_ids_sampled_from_are_the_ids_scored(played: Played) -> None:
    for step, episodes in enumerate(played.episodes):
        (prompts, answers), (contexts, turns) = played.generated[2 * step : 2 * step + 2]
        inputs = played.losses[step]
        scored = {tuple(row) for row in _rows(inputs)}
        for prompt, answer, context, turn in zip(prompts, answers, contexts, turns, strict=True):
            assert context[: len(prompt) + len(answer)] == prompt + answer
            assert tuple(context + turn) in scored
        assert [episode.ids for episode in episodes] == [c + t for c, t in zip(contexts, turns, strict=True)]
        assert {(len(episode.spans), episode.spans[1].role) for episode in episodes} == {(3, None)}


def _rows(inputs: dict[str, Any]) -> list[list[int]]:
    """The ids of each row that the loss is computed on, padding aside."""
    ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], dim=1)
    seen = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], dim=1).bool()
    return [row[mask].tolist() for row, mask in zip(ids, seen, strict=True)]


def test_header_and_cut_off_turns_are_not_trained(played: Played) -> None:
    finishes = set()
    for episode in (episode for step in played.episodes for episode in step):
        answer, between, turn = episode.spans
        said = episode.dialogue.messages[-2:]
        finishes |= {message.finish for message in said}
        assert (answer.trained, between.trained, turn.trained) == (
            said[0].finish == "stop",
            False,
            said[1].finish == "stop",
        )
        assert len(episode.trained) == len(episode.completion_ids) == len(episode.token_credit) == len(episode.roles)
    assert finishes == {"stop", "length"}
    for inputs in played.losses:
        trained = (inputs["completion_mask"] * inputs["tool_mask"]).bool()
        assert trained.any() and not trained.all()


def test_a_reward_of_one_turn_gives_the_other_no_gradient(played: Played) -> None:
    moved = 0
    for gradient, inputs, episodes in zip(played.gradients, played.losses, played.episodes, strict=True):
        roles = {tuple(episode.completion_ids): episode.roles for episode in episodes}
        for row, ids, mask in zip(gradient, inputs["completion_ids"], inputs["completion_mask"].bool(), strict=True):
            for value, role in zip(row[mask].tolist(), roles[tuple(ids[mask].tolist())], strict=True):
                assert role == "user" or value == 0.0
                moved += role == "user" and value != 0.0
    assert moved


def test_with_credit_by_episode_the_other_turn_gets_the_gradient_too(play: Callable[..., Played]) -> None:
    played = play(credit="episode")
    played.trainer.train()
    credited = {role for episode in played.episodes[0] for role, value in episode.credit.items() if value}
    assert credited == {"assistant", "user"}


def test_advantages_reach_the_loss_token_by_token(played: Played) -> None:
    for inputs, episodes in zip(played.losses, played.episodes, strict=True):
        credit = {tuple(episode.completion_ids): episode.token_credit for episode in episodes}
        assert inputs["advantages"].shape == inputs["completion_ids"].shape
        for row, ids, mask in zip(
            inputs["advantages"], inputs["completion_ids"], inputs["completion_mask"].bool(), strict=True
        ):
            assert row[mask].tolist() == pytest.approx(credit[tuple(ids[mask].tolist())])
            assert not row[~mask].any()


def test_a_rewarded_turn_is_learned(play: Callable[..., Played]) -> None:
    """A reward for user turns of two tokens or less: the share of such turns rises, in seconds."""
    short = RewardFunction("user", lambda dialogue: float((dialogue.messages[-1].tokens or 0) <= 2))
    played = play(rewards={"short": short}, max_steps=12, learning_rate=5e-2, per_device_train_batch_size=24, lora=None)
    played.trainer.train()
    shares = [sum(episode.rewards["short"] or 0 for episode in step) / len(step) for step in played.episodes]
    assert sum(shares[-4:]) / 4 > sum(shares[:4]) / 4 + 0.2


def test_episodes_do_not_depend_on_what_was_generated_before(play: Callable[..., Played]) -> None:
    first, second = play(), play()
    torch.manual_seed(7)
    first.trainer.train()
    torch.rand(1000)
    second.trainer.train()
    assert [[e.ids for e in step] for step in first.episodes] == [[e.ids for e in step] for step in second.episodes]


def test_every_step_logs_the_same_names(play: Callable[..., Played]) -> None:
    """Also a step that trains on the episodes of the one before."""
    played = play(num_iterations=2, max_steps=4)
    played.trainer.train()
    logged = [set(line) for line in played.trainer.state.log_history if "loss" in line]
    assert len(logged) == 4 and len(played.episodes) == 2
    metrics = set(played.trainer.rollout_func.metric_names)
    assert all(names >= metrics for names in logged)


def test_a_preempted_run_samples_what_an_uninterrupted_one_does(play: Callable[..., Played]) -> None:
    """Two steps use the same episodes, and the signal arrives in the first of two."""
    settings: dict[str, Any] = {"num_iterations": 2, "max_steps": 6, "save_strategy": "steps", "save_steps": 6}
    whole, before, after = (play(**settings) for _ in range(3))
    whole.trainer.train()

    def hear_at_step_3(state: Any) -> None:
        if state.global_step == 3:
            PREEMPTION.receive(signal.SIGUSR1)

    every = steps_per_batch(before.trainer.args)
    before.trainer.add_callback(listener(on_step_end=hear_at_step_3))
    with PREEMPTION.listening(), pytest.raises(Preempted):
        train_until_preempted(before.trainer, None, every)
    (checkpoint,) = Path(before.trainer.args.output_dir).glob("checkpoint-*")
    assert checkpoint.name == "checkpoint-4"
    with PREEMPTION.listening():
        train_until_preempted(after.trainer, checkpoint, every)
    played = [[episode.ids for episode in step] for run in (before, after) for step in run.episodes]
    assert played == [[episode.ids for episode in step] for step in whole.episodes]


def test_a_row_with_an_unknown_reward_is_unknown_to_trl_altogether() -> None:
    rows = [{"gsm8k": 1.0, "followup": None}, {"gsm8k": 0.0, "followup": 1.0}]
    assert column("gsm8k")(rewards=rows, prompts=[]) == [None, 0.0]
    assert column("followup")(rewards=rows, prompts=[]) == [None, 1.0]
    assert column("followup").__name__ == "followup"
