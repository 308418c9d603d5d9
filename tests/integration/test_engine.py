"""The transformers engine and the GGUF conversion on the small real weights."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from eval.engine import Completion, Prompt, Sampling
from eval.engines.transformers import Engine

pytestmark = pytest.mark.integration

MAX_TOKENS = 32
CLOSE = 1e-3
"""Logits closer than this may rank in either order, depending on the batch."""
QUESTIONS = [
    "What is 12 times 11?",
    "A baker has 48 rolls and sells them in bags of 6. How many bags?",
    "Name three rivers in Europe.",
    "Why is the sky blue? Answer in one sentence.",
    "Write a haiku about rain.",
    "My knee hurts after running. What should I do?",
    "Translate 'good morning' into French.",
    "What does HTTP stand for?",
    "List two uses of baking soda.",
    "How long should I boil an egg?",
]
ANSWERS = ["It depends.", "Here is what I would do. " * 12]


@pytest.fixture(scope="module")
def tokenizer(smollm2: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(smollm2)


@pytest.fixture(scope="module")
def prompts(tokenizer: Any) -> list[Prompt]:
    """Prompts of user turns after short and long answers: 20 of 45 to 140 tokens."""
    header = tokenizer("<|im_start|>user\n", add_special_tokens=False).input_ids
    found = []
    for number, question in enumerate(QUESTIONS):
        for answer in ANSWERS:
            messages = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
            ids = tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False)
            found.append(Prompt(f"{number} {len(answer)}", [*ids, *header], number))
    return found


@pytest.fixture(scope="module")
def engine(smollm2: Path) -> Engine:
    return Engine(smollm2, device="cpu")


def differences(model: Any, prompts: Iterable[Prompt], results: dict[str, Any], stop: int) -> list[str]:
    """Prompts whose greedy ids differ from `generate` on the prompt alone, except for ties of the two best logits."""
    import torch

    different = []
    for prompt in prompts:
        ids = torch.tensor([list(prompt.ids)])
        alone = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=MAX_TOKENS,
            do_sample=False,
            eos_token_id=stop,
            pad_token_id=stop,
            output_logits=True,
            return_dict_in_generate=True,
        )
        expected, ours = alone.sequences[0, len(prompt.ids) :].tolist(), list(results[prompt.key].ids)
        if expected != ours:
            at = next(i for i, pair in enumerate(zip(expected, ours, strict=False)) if pair[0] != pair[1])
            best = alone.logits[at][0].topk(2).values
            if best[0] - best[1] > CLOSE:
                different.append(prompt.key)
    return different


def test_greedy_turns_match_generate_one_by_one(
    engine: Engine, smollm2: Path, prompts: list[Prompt], tokenizer: Any
) -> None:
    from transformers import AutoModelForCausalLM

    stop = tokenizer.eos_token_id
    results = dict(engine.generate(prompts, Sampling(max_tokens=MAX_TOKENS), frozenset({stop})))
    assert {result.finish for result in results.values() if isinstance(result, Completion)} == {"stop", "length"}
    assert differences(AutoModelForCausalLM.from_pretrained(smollm2).eval(), prompts, results, stop) == []


def test_sampled_turns_do_not_depend_on_the_batch(engine: Engine, smollm2: Path, prompts: list[Prompt]) -> None:
    sampling = Sampling(max_tokens=12, temperature=0.8, top_p=0.95)
    together = dict(engine.generate(prompts, sampling, frozenset({2})))
    apart = dict(Engine(smollm2, device="cpu", batch_rows=3).generate(prompts[::-1], sampling, frozenset({2})))
    assert apart == together
    assert len({result.ids for result in together.values() if isinstance(result, Completion)}) > 10


def test_the_converted_tokenizer_matches_smollm2(tokenizer: Any) -> None:
    assert (tokenizer.bos_token, tokenizer.eos_token, tokenizer.pad_token) == (
        "<|im_start|>",
        "<|im_end|>",
        "<|im_end|>",
    )
    assert tokenizer.model_max_length == 8192
    text = "  5 apples , cost $3.50 .\n\n It 's 12\u00a0% \u4e16\u754c \U0001f642"
    ids = tokenizer(text).input_ids
    assert tokenizer.decode(ids) == text
    assert tokenizer.convert_ids_to_tokens(ids)[:3] == ["\u0120\u0120", "5", "\u0120apples"]
    assert not set(tokenizer("a\x16b").input_ids) & set(tokenizer.all_special_ids)
    messages = [{"role": "user", "content": "Hi"}]
    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    assert tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) == (
        f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


def test_the_converted_weights_are_float32_and_unquantized(engine: Engine) -> None:
    import torch

    assert {parameter.dtype for parameter in engine.model.parameters()} == {torch.float32}
    assert not hasattr(engine.model.config, "quantization_config")
    assert engine.max_context == 8192
