"""The engine on vLLM itself gives the same ids as transformers, in this process and through a server.

Tests marked `vllm` need vLLM: `make test-vllm` runs them in an environment of their own.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import random
import runpy
import signal
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval.checks.same_weights import (
    TOKENS,
    TOLERANCE,
    Comparison,
    Served,
    compare,
    is_last_norm,
    mismatch,
    perturbed,
    stale,
)
from eval.config import ConfigError
from eval.dialogue import Failure
from eval.engine import Completion, Prompt, Sampling
from eval.engines import server, transformers, vllm

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

CLOSE = 1e-3
"""Two logits nearer than this may be ranked either way."""
MAX_CONTEXT = 512
GREEDY, SAMPLED = Sampling(max_tokens=16), Sampling(max_tokens=16, temperature=1.0, top_p=0.95, top_k=50)
SETTINGS = {"enforce_eager": True, "max_model_len": MAX_CONTEXT, "max_num_seqs": 32}
IN_PROCESS = {**SETTINGS, "distributed_executor_backend": "uni"}
ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "2", "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "HF_HUB_OFFLINE": "1"}


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed here")
def test_without_vllm_the_engine_says_how_to_install_it(tiny_model: Path) -> None:
    with pytest.raises(ConfigError, match=r"vLLM is not installed here; `pip install vllm==0\.31\.0`"):
        vllm.Engine(tiny_model)


@pytest.fixture(scope="module")
def environment() -> Iterable[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def random_llama(smollm2_tokenizer: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Llama with random weights, with heads of a size that vLLM has on a CPU."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes: dict[str, Any] = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2}
    heads: dict[str, Any] = {"num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.2}
    folder = tmp_path_factory.mktemp("llama")
    config = LlamaConfig(vocab_size=len(smollm2_tokenizer), max_position_embeddings=MAX_CONTEXT, **sizes, **heads)
    LlamaForCausalLM(config).save_pretrained(folder)
    smollm2_tokenizer.save_pretrained(folder)
    return folder


class Case:
    """A model in both engines, with 20 prompts and the stop ids of its user turns."""

    def __init__(self, folder: Path, prompts: Sequence[Prompt], stop_ids: frozenset[int]) -> None:
        self.here = transformers.Engine(folder, device="cpu")
        self.there = vllm.Engine(folder, vllm=IN_PROCESS)
        self.prompts, self.stop_ids = prompts, stop_ids

    def differences(self, made: dict[str, Any]) -> list[str]:
        """Prompts whose greedy completion is not that of transformers, near ties of the two best logits aside."""
        expected, found = dict(self.here.generate(self.prompts, GREEDY, self.stop_ids)), []
        for prompt in self.prompts:
            ours, theirs = made[prompt.key], expected[prompt.key]
            assert isinstance(ours, Completion) and isinstance(theirs, Completion)
            if ours.ids == theirs.ids:
                assert ours.finish == theirs.finish
                continue
            at = next(i for i, pair in enumerate(zip(ours.ids, theirs.ids, strict=False)) if pair[0] != pair[1])
            best = self.logits([*prompt.ids, *theirs.ids[:at]])[-1].topk(2).values
            if best[0] - best[1] > CLOSE:
                found.append(f"{prompt.key} at {at}")
        return found

    def logits(self, ids: Sequence[int]) -> Any:
        """Of transformers after each token, (tokens, vocabulary)."""
        import torch

        with torch.inference_mode():
            return self.here.model(torch.tensor([list(ids)])).logits[0]


@pytest.fixture(scope="module")
def random_case(random_llama: Path, environment: None) -> Case:
    draw = random.Random(0)
    lengths = [draw.randint(1, 60) for _ in range(20)]
    vocabulary = transformers.Engine(random_llama, device="cpu").vocabulary
    ids = [[draw.randrange(vocabulary) for _ in range(length)] for length in lengths]
    prompts = [Prompt(f"p{number}", each, 2**63 + number) for number, each in enumerate(ids)]
    return Case(random_llama, prompts, frozenset(range(0, vocabulary, 20)))


@pytest.fixture(scope="module")
def smollm2_case(smollm2: Path, environment: None) -> Case:
    from transformers import AutoTokenizer

    from eval.dialogue import Message
    from eval.formats.smollm2 import Format

    chat_format = Format(AutoTokenizer.from_pretrained(smollm2), history="as_history")
    prompts = []
    for number in range(20):
        turns = (
            Message("user", f"What is {number} times 12?"),
            Message("assistant", f"It is {number * 12}. " * (number + 1)),
        )
        role = "user" if number % 4 else "assistant"
        prompts.append(
            Prompt(f"p{number}", chat_format.open_turn(turns if role == "user" else turns[:1], role), number)
        )
    return Case(smollm2, prompts, chat_format.stop_ids("user"))


@pytest.fixture(params=["random", "smollm2"])
def case(request: pytest.FixtureRequest) -> Case:
    return request.getfixturevalue(f"{request.param}_case")


@pytest.mark.vllm
def test_greedy_ids_and_finish_reasons_are_those_of_transformers(case: Case) -> None:
    made = dict(case.there.generate(case.prompts, GREEDY, case.stop_ids))
    assert case.differences(made) == []
    assert {result.finish for result in made.values()} >= {"length"}


@pytest.mark.vllm
def test_generation_stops_at_the_given_ids(random_case: Case) -> None:
    made = dict(random_case.there.generate(random_case.prompts, GREEDY, random_case.stop_ids))
    assert {result.finish for result in made.values()} == {"stop", "length"}
    unstopped = dict(random_case.there.generate(random_case.prompts, GREEDY, frozenset({1})))
    for key, result in made.items():
        if result.finish == "stop":
            assert unstopped[key].ids[: len(result.ids)] == result.ids and len(unstopped[key].ids) > len(result.ids)


@pytest.mark.vllm
def test_rows_are_sampled_by_their_own_seed(random_case: Case) -> None:
    made = dict(random_case.there.generate(random_case.prompts, SAMPLED, random_case.stop_ids))
    assert dict(random_case.there.generate(random_case.prompts[::-1], SAMPLED, random_case.stop_ids)) == made
    other = [Prompt(prompt.key, prompt.ids, prompt.seed + 100) for prompt in random_case.prompts]
    assert dict(random_case.there.generate(other, SAMPLED, random_case.stop_ids)) != made


@pytest.mark.vllm
def test_several_turns_of_a_prompt_with_their_log_probs(random_case: Case) -> None:
    import torch

    case = random_case
    made = dict(case.there.generate_n(case.prompts, SAMPLED, case.stop_ids, 4, log_probs=True))
    assert all(len(turns) == 4 for turns in made.values())
    assert sum(len({turn.ids for turn in turns}) for turns in made.values()) > 3 * len(made)
    for prompt in case.prompts[:5]:
        for turn in made[prompt.key]:
            own = case.logits([*prompt.ids, *turn.ids]).log_softmax(-1)[len(prompt.ids) - 1 : -1]
            expected = own.gather(1, torch.tensor(turn.ids)[:, None])[:, 0]
            assert torch.allclose(torch.tensor(turn.log_probs), expected, atol=1e-3)
    with pytest.raises(ConfigError, match="greedy completions of one prompt are identical"):
        dict(case.there.generate_n(case.prompts, GREEDY, case.stop_ids, 2))


@pytest.mark.vllm
def test_prompts_without_tokens_or_room_fail_alone_and_a_caller_may_stop_early(random_case: Case) -> None:
    bad = [Prompt("empty", [], 0), Prompt("long", [1] * MAX_CONTEXT, 0)]
    made = dict(random_case.there.generate([*bad, random_case.prompts[0]], GREEDY, random_case.stop_ids))
    kinds = [result.kind for result in made.values() if isinstance(result, Failure)]
    assert kinds == ["empty_prompt", "context_too_long"] and len(made) == 3
    early = random_case.there.generate(random_case.prompts, GREEDY, random_case.stop_ids)
    next(early)
    early.close()
    again = dict(random_case.there.generate(random_case.prompts[:3], GREEDY, random_case.stop_ids))
    assert again.keys() == {prompt.key for prompt in random_case.prompts[:3]}


@pytest.mark.vllm
def test_weights_synced_as_trl_does_are_used(random_case: Case) -> None:
    """Weights are loaded into the model in vLLM's worker one at a time, which makes the cache stale."""
    case, prompt = random_case, random_case.prompts[0]
    worker = case.there.core.model_executor.driver_worker.model_runner
    ((name, weights),) = [pair for pair in case.here.model.named_parameters() if is_last_norm(pair[0])]
    kept = weights.detach().clone()

    def comparison() -> Comparison:
        greedy = Sampling(max_tokens=TOKENS)
        ((_, (completion,)),) = case.there.generate_n([prompt], greedy, frozenset(), 1, log_probs=True)
        return compare(case.here.model, prompt.ids, Served(completion.ids, completion.log_probs))

    def sync() -> None:
        worker.model.load_weights([(name, weights.data)])
        case.there.core.reset_prefix_cache()

    before = comparison()
    weights.data.copy_(perturbed(kept))
    try:
        not_synced = comparison()
        sync()
        after = comparison()
    finally:
        weights.data.copy_(kept)
        sync()
    assert mismatch(before, TOLERANCE) is None
    assert stale(before, not_synced) and mismatch(not_synced, TOLERANCE)
    assert stale(before, after) is None and mismatch(after, TOLERANCE) is None
    assert mismatch(comparison(), TOLERANCE) is None


@pytest.mark.vllm
def test_the_fake_vllm_of_the_training_tests_accepts_what_vllm_accepts(environment: None) -> None:
    from vllm import LLM, SamplingParams
    from vllm.engine.arg_utils import EngineArgs

    stand_ins = runpy.run_path(str(Path(__file__).parents[2] / "train" / "vllm_stand_ins.py"))
    for real, other in ((SamplingParams, stand_ins["SamplingParams"]), (LLM.generate, stand_ins["LLM"].generate)):
        assert set(inspect.signature(other).parameters) <= set(inspect.signature(real).parameters)
    given_by_trl = ("max_num_seqs", "enable_sleep_mode", "distributed_executor_backend", "logprobs_mode", "model_impl")
    assert set(given_by_trl) <= {field.name for field in dataclasses.fields(EngineArgs)}
    assert callable(LLM.reset_prefix_cache)


@pytest.mark.vllm
def test_an_unknown_vllm_argument_gives_a_one_line_error(random_llama: Path, environment: None) -> None:
    engine = vllm.Engine(random_llama, vllm={"no_such_argument": 1})
    with pytest.raises(ConfigError, match=r"vLLM does not start with .*no_such_argument"):
        list(engine.generate([Prompt("p", [1], 0)], GREEDY, frozenset({2})))


@pytest.mark.vllm
@pytest.mark.timeout(3600)  # two servers start, and three processes of each import vLLM
def test_a_server_gives_the_same_ids_and_a_run_resumes_after_it_is_killed(
    random_case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VLLM_ENABLE_V1_MULTIPROCESSING")

    def engine() -> server.Engine:
        return server.Engine(random_case.here.folder, vllm=SETTINGS, concurrency=2)

    killed, made = engine(), {}
    finished = killed.generate(random_case.prompts, GREEDY, random_case.stop_ids)
    with pytest.raises(ConfigError, match=r"has exited|no longer answers") as error:
        for key, result in finished:
            made[key] = result
            if len(made) == 3:
                assert killed._process is not None
                os.killpg(killed._process._process.pid, signal.SIGKILL)
    assert 3 <= len(made) < len(random_case.prompts), str(error.value)
    again = engine()
    rest = [prompt for prompt in random_case.prompts if prompt.key not in made]
    made |= dict(again.generate(rest, GREEDY, random_case.stop_ids))
    assert random_case.differences(made) == []
    several = dict(again.generate_n(random_case.prompts[:3], SAMPLED, random_case.stop_ids, 3, log_probs=True))
    here = dict(random_case.there.generate_n(random_case.prompts[:3], SAMPLED, random_case.stop_ids, 3, log_probs=True))
    for key, turns in several.items():
        assert [turn.ids for turn in turns] == [turn.ids for turn in here[key]]
        for turn, same in zip(turns, here[key], strict=True):
            assert turn.log_probs == pytest.approx(same.log_probs, abs=1e-3)
