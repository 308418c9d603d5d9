"""Prompt prefill: shared prefixes are computed once, and no logit changes by more than rounding."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from eval.generation import model_call
from eval.generation.kv_cache import new_cache
from eval.generation.prompt_reading import SHARE, SHORTEST, PromptReader, common_opening, padded

VOCABULARY = 97

ModelOf = Callable[[str, int], Any]
Read = Callable[[PromptReader, list[tuple[int, ...]]], list[tuple[int, int]]]


@pytest.fixture
def reader(random_model: ModelOf) -> PromptReader:
    return PromptReader(random_model("llama", VOCABULARY))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Read:
    """Reads prompts, asserts that each gets the logits that it has alone; returns (rows, positions) of each call."""
    calls: list[tuple[int, int]] = []
    forward = model_call.forward

    def counted(model: Any, ids: Any, *rest: Any) -> Any:
        calls.append(tuple(ids.shape))
        return forward(model, ids, *rest)

    def checked(reader: PromptReader, prompts: list[tuple[int, ...]]) -> list[tuple[int, int]]:
        import torch

        with torch.inference_mode():
            calls.clear()
            logits, cache = reader.read(prompts)
            made = list(calls)
            assert_alike(reader.model, prompts, logits, cache)
        return made

    monkeypatch.setattr(model_call, "forward", counted)
    return checked


def assert_alike(model: Any, prompts: list[tuple[int, ...]], logits: Any, cache: Any) -> None:
    """The logits after each prompt, and after one more token, are those of the prompt alone."""
    import torch

    longest = max(map(len, prompts))
    more = [len(ids) + 1 for ids in prompts]
    after = model_call.forward(model, torch.full((len(prompts), 1), 7), more, longest + 1, cache)
    for row, ids in enumerate(prompts):
        alone = new_cache(model.config.get_text_config())
        for found, new, length in ((logits, ids, len(ids)), (after, (7,), len(ids) + 1)):
            expected = model_call.forward(model, padded([new]), [length], length, alone)
            torch.testing.assert_close(found[row : row + 1], expected, rtol=1e-4, atol=1e-4)


def tokens(count: int, seed: int) -> tuple[int, ...]:
    return tuple(random.Random(seed).choices(range(VOCABULARY), k=count))


def test_a_shared_opening_is_read_once_and_cached(reader: PromptReader, read: Read) -> None:
    opening = tokens(24, 0)
    assert read(reader, [(*opening, *tokens(count, count)) for count in (9, 1, 4)]) == [(1, 24), (3, 9)]
    assert read(reader, [(*opening, *tokens(count, count)) for count in (3, 11)]) == [(2, 11)]
    assert read(reader, [(*opening, *tokens(6, 5))]) == [(1, 6)]


def test_a_new_opening_replaces_the_cached_one(reader: PromptReader, read: Read) -> None:
    first = tokens(20, 0)
    for opening in (first, (*first, *tokens(30, 1)), tokens(17, 2)):
        prompts = [(*opening, count, *tokens(count, 3)) for count in (5, 2)]
        assert read(reader, prompts) == [(1, len(opening)), (2, 6)]


def test_an_opening_is_read_again_after_running_out_of_memory(
    reader: PromptReader, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = [(*tokens(24, 0), *tokens(count, count)) for count in (9, 4)]

    def short(*_: Any) -> Any:
        raise MemoryError

    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(model_call, "forward", short)
        reader.read(prompts)
    assert read(reader, prompts) == [(1, 24), (2, 9)]


@pytest.mark.parametrize(("opening", "longest"), [(SHORTEST - 1, 40), (SHORTEST + 4, (SHORTEST + 5) * SHARE)])
def test_a_short_opening_is_not_read_separately(reader: PromptReader, read: Read, opening: int, longest: int) -> None:
    prompts = [(*tokens(opening, 0), less, *tokens(longest - opening - less - 1, 1)) for less in (0, 1)]
    assert read(reader, prompts) == [(2, longest)]


@pytest.mark.parametrize("family", ["llama", "qwen3_5", "gemma3"])
def test_a_prompt_of_several_rows_is_read_once(random_model: ModelOf, read: Read, family: str) -> None:
    one, other = tokens(21, 0), tokens(14, 1)
    assert read(PromptReader(random_model(family, VOCABULARY)), [one, other, one, one, other]) == [(2, 21)]


def test_the_common_opening_of_prompts() -> None:
    assert common_opening([(1, 2, 3), (1, 2), (1, 2, 4)]) == (1, 2)
    assert common_opening([(1, 2), (3,)]) == ()
    assert common_opening([(5, 6)]) == (5, 6)
