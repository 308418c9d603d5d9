"""The settings of TRL's generation for one turn, with transformers and vLLM, and their restoration."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from train.turn_generation import Sampled, TurnLimits, generate

LIMITS = TurnLimits(frozenset({7, 5}), 12)


def vllm_trainer(seen: list[dict[str, Any]], ids: list[list[int]], logprobs: list[list[float | None]]) -> Any:
    """What of a trainer with vLLM a turn touches; `_generate_single_turn` as in trl 1.16."""
    generation = SimpleNamespace(generation_kwargs={"seed": 1}, max_completion_length=100)

    def single_turn(prompts: Any, images: Any, fields: Any, copies: int) -> Any:
        told = {"prompts": prompts, "images": images, "fields": fields, "copies": copies}
        seen.append({**told, **generation.generation_kwargs, "max_tokens": generation.max_completion_length})
        return ids, logprobs

    return SimpleNamespace(use_vllm=True, vllm_generation=generation, _generate_single_turn=single_turn)


def test_vllm_gets_the_settings_of_the_turn_and_then_its_own_back() -> None:
    seen: list[dict[str, Any]] = []
    trainer = vllm_trainer(seen, [[3, 5], [4, 4]], [[-0.1, -0.2], [-0.3, None]])
    found = generate(trainer, [(1, 2), (1, 2)], LIMITS, [0, 1], 2)
    assert found == [Sampled([3, 5], [-0.1, -0.2]), Sampled([4, 4], [-0.3, None])]
    (told,) = seen
    assert told["prompts"] == [[1, 2], [1, 2]] and told["copies"] == 2 and told["max_tokens"] == 12
    # Not the model's own ends, and the stop is kept in the ids.
    assert told["stop_token_ids"] == [5, 7] and told["ignore_eos"] is True and told["skip_special_tokens"] is False
    assert trainer.vllm_generation.generation_kwargs == {"seed": 1}
    assert trainer.vllm_generation.max_completion_length == 100


def test_vllm_is_as_before_after_an_error() -> None:
    trainer = vllm_trainer([], [], [])

    def fail(*args: Any) -> Any:
        raise RuntimeError("out of memory")

    trainer._generate_single_turn = fail
    with pytest.raises(RuntimeError):
        generate(trainer, [(1, 2)], LIMITS, [0], 1)
    assert trainer.vllm_generation.generation_kwargs == {"seed": 1}


def test_the_names_that_are_set_exist_in_trl() -> None:
    """Attributes of TRL's that are set here, and the arguments that vLLM's sampling takes, by their source."""
    import inspect

    from trl import GRPOTrainer
    from trl.generation.vllm_generation import VLLMGeneration

    generation = inspect.getsource(VLLMGeneration)
    assert "max_completion_length = self.max_completion_length" in generation
    assert "generation_kwargs.update(self.generation_kwargs)" in generation
    assert '"generation_kwargs": self.generation_kwargs' in generation
    single_turn = inspect.getsource(GRPOTrainer._generate_single_turn)
    assert "generation_config=self.generation_config" in single_turn and "self.eos_token_ids" in single_turn
    parameters = list(inspect.signature(GRPOTrainer._generate_single_turn).parameters)
    assert parameters[1:5] == ["prompt_ids", "images", "multimodal_fields", "num_generations"]
