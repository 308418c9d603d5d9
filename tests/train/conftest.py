"""Complete folders of tiny random models, and small files of conversations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eval.dialogue import Dialogue, Message
from eval.rendering.chat_format import ChatFormat

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

SMALL = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "tie_word_embeddings": True,
}


def llama_config(vocabulary: int) -> PretrainedConfig:
    from transformers import LlamaConfig

    return LlamaConfig(vocab_size=vocabulary, num_hidden_layers=2, **SMALL)


def qwen3_5_config(vocabulary: int) -> PretrainedConfig:
    """Four layers, three of them linear attention, as in every Qwen3.5."""
    from transformers.models.qwen3_5.configuration_qwen3_5 import Qwen3_5TextConfig

    return Qwen3_5TextConfig(
        vocab_size=vocabulary,
        num_hidden_layers=4,
        head_dim=8,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        **SMALL,
    )


CONFIGS = {"llama": llama_config, "qwen3_5": qwen3_5_config}


@pytest.fixture(scope="session")
def tiny_model() -> Callable[..., PreTrainedModel]:
    """(name="llama" or "qwen3_5", vocabulary=512) -> a random model, the same each time."""

    def make(name: str = "llama", vocabulary: int = 512) -> PreTrainedModel:
        import torch
        from transformers import AutoModelForCausalLM

        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(CONFIGS[name](vocabulary)).eval()
        with torch.no_grad():  # larger than at initialization, so that layers make a difference
            for weights in model.parameters():
                weights.add_(torch.randn_like(weights) * 0.1)
        return model

    return make


@pytest.fixture(scope="session")
def tiny_folders(
    tiny_model: Callable[..., PreTrainedModel],
    smollm2_tokenizer: PreTrainedTokenizerFast,
    qwen3_5_tokenizer: PreTrainedTokenizerFast,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:
    """Model folders, by architecture: weights, configuration, tokenizer, chat template."""
    folders = {}
    for name, tokenizer in (("llama", smollm2_tokenizer), ("qwen3_5", qwen3_5_tokenizer)):
        folders[name] = tmp_path_factory.mktemp("models") / name
        tiny_model(name, len(tokenizer)).save_pretrained(folders[name])
        tokenizer.save_pretrained(folders[name])
    return folders


def conversation(number: int = 0, task: str = "collab") -> Dialogue:
    """Two turns a side, of lengths that differ with `number`."""
    told = " and then some" * (number % 5)
    turns = [
        Message("user", f"Tom has {number} pens{told}. He gives 5 away. How many does he keep?"),
        Message("assistant", f"He keeps {number} - 5 = {number - 5} pens{told}."),
        Message("user", f"Why do you take 5 from {number} here?"),
        Message("assistant", "He gives them away, so they are not his."),
    ]
    return Dialogue(task, tuple(turns))


def solution(number: int, correct: bool | None = True) -> Dialogue:
    turns = (
        Message("user", f"Add 7 to {number}."),
        Message("assistant", f"{number} + 7 = {number + 7}\n#### {number + 7}"),
    )
    return Dialogue("gsm8k", turns, reference=str(number + 7), meta={"split": "train", "row": number}, correct=correct)


def write_rows(path: Path, dialogues: Iterable[Dialogue], **more: Any) -> Path:
    lines = [json.dumps({**more, **dialogue.to_json()}) for dialogue in dialogues]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def make_conversation() -> Callable[..., Dialogue]:
    """`conversation`: a number -> a dialogue of two turns a side."""
    return conversation


@pytest.fixture(scope="session")
def make_solution() -> Callable[..., Dialogue]:
    """`solution`: a number, and whether it is graded right -> a GSM8K train row with its answer."""
    return solution


@pytest.fixture(scope="session")
def write_dialogues() -> Callable[..., Path]:
    """`write_rows`: (path, dialogues, **fields beside those of a dialogue) -> the path."""
    return write_rows


@pytest.fixture
def data_files(tmp_path: Path) -> dict[str, Path]:
    """Twelve conversations and twelve solutions, every third of these wrong."""
    return {
        "data": write_rows(tmp_path / "conversations.jsonl", map(conversation, range(12))),
        "replay": write_rows(tmp_path / "solutions.jsonl", [solution(n, n % 3 > 0) for n in range(12)]),
    }


@pytest.fixture
def lively(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random model ends some of its turns, and some of them are rewarded: else nothing would be trained."""
    stop_ids = ChatFormat.stop_ids

    def more_stops(self: ChatFormat, role: str) -> frozenset[int]:
        odd = {token for token in range(len(self.tokenizer)) if not self.decode([token]).isascii()}
        return stop_ids(self, role) | odd

    monkeypatch.setattr(ChatFormat, "stop_ids", more_stops)
    monkeypatch.setattr(
        "eval.judges.grounding.decide", lambda exchange: ("other", "genuine_followup")[len(exchange.turn.raw) % 2]
    )
