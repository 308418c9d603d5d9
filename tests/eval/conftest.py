"""Rows with known judgements, and run folders by the real writers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import Field

from eval.config import Config
from eval.dialogue import Dialogue, Judgement, Message, content_hash
from eval.rows import RowStore
from eval.run_dir import RunDir
from eval.summary import summarise

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast


class FolderConfig(Config):
    """What `RunDir` needs of a configuration."""

    run_dir: Path = Field(description="folder")
    name: str | None = Field(None, description="name of the run in tables")


def judged_row(
    task: str,
    number: int,
    label: str = "new_task_prompt",
    genuine: bool = False,
    *,
    correct: bool | None = None,
    turn: str = "Why?",
    model: str = "tiny@0123",
    held_out: bool = False,
    judge: str = "local-1",
) -> Dialogue:
    """A finished row whose identity is its task and number, whatever was generated."""
    loaded = Dialogue(task, (Message("user", f"{task} query {number}"),))
    answer = Message("assistant", f"Answer {number}.") if held_out else Message("assistant", "4", model, "stop", 2)
    spoken = loaded.says(answer).says(Message("user", turn, model, "stop", 3))
    judgement = Judgement(label, genuine, judge)
    return Dialogue(task, spoken.messages, correct=correct, judgement=judgement, id=loaded.id)


def judged_rows(task: str, n: int, genuine: int, *, right: int | None = None, **fields: Any) -> list[Dialogue]:
    """`n` rows: the first `genuine` genuine, every second of these specific; the first `right` answered right."""
    return [
        judged_row(
            task,
            number,
            ("genuine_followup", "generic_followup")[number % 2] if number < genuine else "previous_turn_restate",
            number < genuine,
            correct=None if right is None else number < right,
            **fields,
        )
        for number in range(n)
    ]


def protocol(
    model: str = "SmolLM2-135M-Instruct@0123",
    format: str = "smollm2",
    temperature: float = 0.0,
    perturbation: dict[str, Any] | None = None,
    answers_from: str | None = None,
    judge: str = "local-1",
    **other: Any,
) -> dict[str, Any]:
    """A protocol as a probe writes it; further keywords replace parts of it."""
    greedy = {"temperature": 0.0, "top_p": 1.0, "top_k": 0, "max_tokens": 96, "seed": 0}
    return {
        "model": model,
        "format": format,
        "template_sha": content_hash(format),
        "history": "as_history",
        "engine": "transformers",
        "dtype": "float32",
        "answers": greedy,
        "answers_sha": "0",
        "sampling": {**greedy, "temperature": temperature},
        "answers_from": answers_from,
        "perturbation": perturbation,
        "judge": judge,
        **other,
    }


def random_model_of(family: str, vocabulary: int) -> PreTrainedModel:
    """A small random model of plain attention (llama), of linear (qwen3_5) or of sliding windows beside it (gemma3)."""
    import torch
    import transformers

    sizes: dict[str, Any] = {"vocab_size": vocabulary, "hidden_size": 32, "intermediate_size": 64}
    sizes |= {"num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
    sizes |= {"max_position_embeddings": 128, "initializer_range": 0.3, "tie_word_embeddings": False}
    torch.manual_seed(0)
    if family == "llama":
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes)).eval()
    if family == "qwen3_5":
        linear = {f"linear_{part}": 2 for part in ("num_key_heads", "num_value_heads")}
        heads = {f"linear_{part}": 8 for part in ("key_head_dim", "value_head_dim")}
        return transformers.Qwen3_5ForCausalLM(transformers.Qwen3_5TextConfig(**sizes, **linear, **heads)).eval()
    layers = ["sliding_attention", "full_attention"] * 2
    config = transformers.Gemma3TextConfig(**sizes, sliding_window=12, layer_types=layers)
    return transformers.Gemma3ForCausalLM(config).eval()


@pytest.fixture(scope="session")
def tiny_model(smollm2_tokenizer: PreTrainedTokenizerFast, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small Llama with random weights that reads ChatML."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads: dict[str, Any] = {"num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.3}
    config = LlamaConfig(vocab_size=len(smollm2_tokenizer), max_position_embeddings=2048, **sizes, **heads)
    folder = tmp_path_factory.mktemp("tiny")
    LlamaForCausalLM(config).save_pretrained(folder)
    smollm2_tokenizer.save_pretrained(folder)
    return folder


MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeRun:
    """Writes a run folder of the given rows with the writers of a probe; other keywords are those of `protocol`."""
    monkeypatch.setattr("eval.manifest.git_state", lambda folder: {"commit": None, "dirty_sha256": None, "diff": None})
    monkeypatch.setattr("eval.manifest.packages", dict)

    def make(
        name: str,
        rows: Iterable[Dialogue],
        finish: bool = True,
        *,
        called: str | None = None,
        tasks: dict[str, dict[str, Any]] | None = None,
        training: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Path:
        path = tmp_path / "runs" / name
        config, selection = FolderConfig(run_dir=path, name=called), {"seed": 0, "tasks": tasks or {}}
        with RunDir(path, config, protocol(**fields), selection) as run:
            run.measured["training"] = training or {}
            with RowStore(path / "rows.jsonl") as store:
                for row in rows:
                    store.append(row.id, row)
                if finish:
                    run.finish({"tasks": [asdict(summary) for summary in summarise(store)]})
        return path

    return make


@pytest.fixture
def make_shard(make_run: MakeRun) -> MakeRun:
    """Writes a run folder "I-of-N" as shard I/N of a run, with the rows that it is given."""

    def make(name: str, rows: Iterable[Dialogue]) -> Path:
        path = make_run(name, rows)
        manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
        manifest["config"]["shard"] = name.replace("-of-", "/")
        (path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        return path

    return make


@pytest.fixture
def rows_of() -> Callable[..., list[Dialogue]]:
    """`judged_rows`: rows of a task with known rates."""
    return judged_rows


@pytest.fixture
def row_of() -> Callable[..., Dialogue]:
    """`judged_row`: one row with a known judgement."""
    return judged_row


@pytest.fixture(scope="session")
def random_model() -> Callable[[str, int], PreTrainedModel]:
    """`random_model_of`: a small random model of a family, by its name and the size of its vocabulary."""
    return random_model_of
