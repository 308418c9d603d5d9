"""The transformers engine on tiny random models: Llama, Qwen3.5 (linear attention), Gemma 3 (sliding windows)."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError
from eval.dialogue import Failure
from eval.engine import Completion, Prompt, Sampling
from eval.engines.transformers import Engine
from eval.generation import model_call
from eval.generation.kv_cache import new_cache

VOCABULARY = 97
STOP = frozenset(range(3, VOCABULARY, 9))
GREEDY = Sampling(max_tokens=20)
SAMPLED = Sampling(max_tokens=20, temperature=0.9, top_p=0.9, top_k=50)


@pytest.fixture(scope="module")
def folder_of(
    random_model: Callable[[str, int], Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The model folder of a family, created once."""
    made: dict[str, Path] = {}

    def folder(family: str) -> Path:
        if family not in made:
            made[family] = tmp_path_factory.mktemp(family)
            random_model(family, VOCABULARY).save_pretrained(made[family])
            (made[family] / "tokenizer.json").write_text("{}")
            (made[family] / "chat_template.jinja").write_text("{{ messages }}")
        return made[family]

    return folder


@pytest.fixture
def llama(folder_of: Callable[[str], Path]) -> Engine:
    return Engine(folder_of("llama"), device="cpu")


def prompts(count: int = 24, longest: int = 40) -> list[Prompt]:
    numbers = random.Random(1)
    lengths = [numbers.randint(1, longest) for _ in range(count)]
    return [Prompt(f"row {i}", [numbers.randrange(VOCABULARY) for _ in range(n)], i) for i, n in enumerate(lengths)]


def one_by_one(folder: Path, max_tokens: int) -> dict[str, tuple[int, ...]]:
    """The results of `generate` of transformers for each prompt alone."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    settings: dict[str, Any] = {"do_sample": False, "eos_token_id": sorted(STOP), "pad_token_id": 0}
    made = {}
    for prompt in prompts():
        ids = torch.tensor([list(prompt.ids)])
        output = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=max_tokens, **settings)
        made[prompt.key] = tuple(output[0, len(prompt.ids) :].tolist())
    return made


@pytest.mark.parametrize("family", ["llama", "qwen3_5", "gemma3"])
def test_greedy_ids_are_those_of_generate_however_rows_are_batched(
    folder_of: Callable[[str], Path], family: str
) -> None:
    folder = folder_of(family)
    expected = one_by_one(folder, GREEDY.max_tokens)
    assert len({len(ids) for ids in expected.values()}) > 3, "rows should finish at different times"
    for batch_tokens, batch_rows in ((10_000, 64), (10_000, 5), (200, 64), (1, 1)):
        engine = Engine(folder, device="cpu", batch_tokens=batch_tokens, batch_rows=batch_rows)
        results = list(engine.generate(prompts(), GREEDY, STOP))
        assert len(results) == len(expected)
        assert {key: result.ids for key, result in results if isinstance(result, Completion)} == expected


@pytest.mark.parametrize("family", ["llama", "qwen3_5", "gemma3"])
def test_left_padding_does_not_change_the_logits_of_a_row(folder_of: Callable[[str], Path], family: str) -> None:
    import torch

    model = Engine(folder_of(family), device="cpu").model
    ids = torch.tensor([[11, 12, 13, 14, 15, 16]])
    padded = torch.cat([torch.zeros(1, 9, dtype=torch.long), ids], dim=1)
    caches = [new_cache(model.config), new_cache(model.config)]
    with torch.inference_mode():
        alone = model_call.forward(model, ids, [6], 6, caches[0])
        left = model_call.forward(model, padded, [6], 15, caches[1])
        torch.testing.assert_close(left, alone, rtol=0, atol=1e-5)
        step = torch.tensor([[17]])
        alone = model_call.forward(model, step, [7], 7, caches[0])
        left = model_call.forward(model, step, [7], 16, caches[1])
    torch.testing.assert_close(left, alone, rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", ["llama", "qwen3_5"])
def test_a_sampled_row_depends_only_on_its_own_seed(folder_of: Callable[[str], Path], family: str) -> None:
    rows = prompts()
    results = []
    for order, batch_rows in ((rows, 64), (rows[::-1], 3), (rows[5:] + rows[:5], 1)):
        results.append(dict(Engine(folder_of(family), batch_rows=batch_rows).generate(order, SAMPLED, STOP)))
    assert results[0] == results[1] == results[2]
    other = [Prompt(prompt.key, prompt.ids, prompt.seed + 1000) for prompt in rows]
    assert dict(Engine(folder_of(family)).generate(other, SAMPLED, STOP)) != results[0]


def test_finish_reasons(llama: Engine) -> None:
    for _, result in llama.generate(prompts(), GREEDY, STOP):
        assert isinstance(result, Completion)
        assert not STOP & set(result.ids[:-1])
        assert result.finish == ("stop" if result.ids[-1] in STOP else "length")
        assert result.finish == "stop" or len(result.ids) == GREEDY.max_tokens
    [(_, first)] = llama.generate(prompts(1), Sampling(max_tokens=1), frozenset())
    assert isinstance(first, Completion) and (len(first.ids), first.finish) == (1, "length")
    [(_, stopped)] = llama.generate(prompts(1), Sampling(max_tokens=1), frozenset(first.ids))
    assert stopped == Completion(first.ids, "stop")


def test_invalid_prompts_fail_without_affecting_other_rows(llama: Engine) -> None:
    too_long = Prompt("long", [1] * (llama.max_context - GREEDY.max_tokens + 1), 0)
    fits = Prompt("fits", [1] * (llama.max_context - GREEDY.max_tokens), 0)
    results = dict(llama.generate([Prompt("empty", [], 0), *prompts(3), too_long, fits], GREEDY, STOP))
    assert results.pop("empty") == Failure("generate", "empty_prompt", "the prompt has no tokens")
    refused = results.pop("long")
    assert isinstance(refused, Failure) and refused.kind == "context_too_long" and "128" in refused.detail
    assert len(results) == 4 and all(isinstance(result, Completion) for result in results.values())


def test_a_token_outside_the_vocabulary_stops_the_run(llama: Engine) -> None:
    with pytest.raises(ValueError, match=r"row 7 has token 97, .* know 97 tokens"):
        list(llama.generate([Prompt("row 7", [3, VOCABULARY], 0)], GREEDY, STOP))


def fail_above(monkeypatch: pytest.MonkeyPatch, rows: int, error: Callable[[], Exception]) -> None:
    forward = model_call.forward

    def limited(model: Any, ids: Any, *rest: Any) -> Any:
        if len(ids) > rows:
            forward(model, ids, *rest)
            raise error()
        return forward(model, ids, *rest)

    monkeypatch.setattr(model_call, "forward", limited)


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("rows", [1, 3, 10])
def test_out_of_memory_halves_the_batch_and_changes_no_row(
    llama: Engine, monkeypatch: pytest.MonkeyPatch, rows: int, sampling: Sampling
) -> None:
    import torch

    expected = dict(llama.generate(prompts(), sampling, STOP))
    cpu = (
        "[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
    )
    for error in (lambda: torch.OutOfMemoryError("CUDA out of memory"), lambda: RuntimeError(cpu), MemoryError):
        with monkeypatch.context() as patch:
            fail_above(patch, rows, error)
            results = list(llama.generate(prompts(), sampling, STOP))
        assert len(results) == len(expected)
        assert dict(results) == expected


def test_a_row_that_does_not_fit_alone_fails_and_the_others_continue(
    llama: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    expected = dict(llama.generate(prompts(), GREEDY, STOP))
    forward = model_call.forward

    def limited(model: Any, ids: Any, lengths: Any, *rest: Any) -> Any:
        if max(lengths) > 40:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(model, ids, lengths, *rest)

    monkeypatch.setattr(model_call, "forward", limited)
    rows = dict(llama.generate(prompts(), GREEDY, STOP))
    failed = {key for key, result in rows.items() if isinstance(result, Failure)}
    assert failed and len(failed) < len(rows) == len(expected)
    assert all(rows[key].kind == "out_of_memory" for key in failed)  # type: ignore[union-attr]
    assert all(rows[key] == expected[key] for key in rows.keys() - failed)


def test_other_errors_are_not_treated_as_out_of_memory(llama: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_above(monkeypatch, 0, lambda: RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        list(llama.generate(prompts(), GREEDY, STOP))


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_non_finite_logits_fail_only_their_row(
    llama: Engine, monkeypatch: pytest.MonkeyPatch, bad: float, sampling: Sampling
) -> None:
    expected = dict(llama.generate(prompts(), sampling, STOP))
    forward = model_call.forward

    def poisoned(model: Any, ids: Any, lengths: Any, *rest: Any) -> Any:
        logits = forward(model, ids, lengths, *rest).clone()
        logits[[index for index, length in enumerate(lengths) if length == 30]] = bad
        return logits

    monkeypatch.setattr(model_call, "forward", poisoned)
    rows = dict(llama.generate(prompts(), sampling, STOP))
    failed = {key for key, result in rows.items() if isinstance(result, Failure)}
    assert failed and len(failed) < len(rows)
    assert all(rows[key].kind == "non_finite_logits" for key in failed)  # type: ignore[union-attr]
    assert all(rows[key] == expected[key] for key in rows.keys() - failed)


def test_an_endless_stream_of_prompts_is_taken_a_window_at_a_time(llama: Engine) -> None:
    taken = 0

    def endless() -> Iterator[Prompt]:
        nonlocal taken
        for number in itertools.count():
            taken += 1
            yield Prompt(str(number), [number % VOCABULARY, 9, 10], number)

    results = llama.generate(endless(), Sampling(max_tokens=4), STOP)
    for given, (key, _) in enumerate(itertools.islice(results, 600)):
        assert taken - given <= 400, f"{taken} prompts taken for {given} results at {key}"
    refused = llama.generate((Prompt(str(n), [], 0) for n in itertools.count()), GREEDY, STOP)
    assert len(list(itertools.islice(refused, 10))) == 10


def test_the_caller_is_not_left_in_inference_mode(llama: Engine) -> None:
    import torch

    modes = [torch.is_inference_mode_enabled() for _ in llama.generate(prompts(4), GREEDY, STOP)]
    assert modes == [False] * 4


def test_the_generation_config_of_the_model_is_never_applied(folder_of: Callable[[str], Path], tmp_path: Path) -> None:
    plain, loud = folder_of("llama"), tmp_path / "loud"
    loud.mkdir()
    for file in plain.iterdir():
        (loud / file.name).write_bytes(file.read_bytes())
    settings = {"temperature": 3.0, "top_k": 2, "do_sample": True, "repetition_penalty": 50.0, "eos_token_id": 1}
    (loud / "generation_config.json").write_text(json.dumps(settings))
    for sampling in (GREEDY, SAMPLED):
        expected = dict(Engine(plain).generate(prompts(), sampling, STOP))
        assert dict(Engine(loud).generate(prompts(), sampling, STOP)) == expected


def test_weights_are_loaded_on_the_first_prompt(llama: Engine) -> None:
    assert list(llama.generate([], GREEDY, STOP)) == []
    assert "model" not in vars(llama)
    assert len(list(llama.generate(prompts(1), GREEDY, STOP))) == 1
    assert "model" in vars(llama)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_tokens": 0}, "batch_tokens is 0"),
        ({"batch_rows": -1}, "batch_rows is -1"),
        ({"device": "no such thing"}, "device 'no such thing' is not available.*try auto"),
    ],
)
def test_an_invalid_setting_is_named(folder_of: Callable[[str], Path], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Engine(folder_of("llama"), **options)


def test_truncated_or_incomplete_weights_are_an_error(folder_of: Callable[[str], Path], tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    for file in folder_of("llama").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = tmp_path / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[: len(content) // 2])
    with pytest.raises(ConfigError, match="cannot read the weights in"):
        list(Engine(tmp_path).generate(prompts(1), GREEDY, STOP))
    weights.write_bytes(content)
    tensors = load_file(weights)
    lost = "model.layers.2.mlp.up_proj.weight"
    del tensors[lost]
    save_file(tensors, weights, {"format": "pt"})
    with pytest.raises(ConfigError, match=f"lack 1 tensors of LlamaForCausalLM, such as {lost}"):
        list(Engine(tmp_path).generate(prompts(1), GREEDY, STOP))
