"""Fixtures shared by tests with real weights and with several processes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

LIKELY = "Why does he keep 7 pens? How many pens does Tom have?"
"""Tokens that the random model prefers, in any order, so that some of its turns get a reward."""


@pytest.fixture(scope="session")
def deepspeed() -> None:
    """Skips if DeepSpeed cannot run; its first start compiles an extension for several minutes."""
    pytest.importorskip("deepspeed", reason="DeepSpeed is not installed")
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        pytest.skip("no C++ compiler: DeepSpeed compiles an extension on a machine without a GPU")


@pytest.fixture(scope="session")
def tiny(qwen3_5_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random Qwen3.5 that prefers a few words and ends its turns early."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.models.qwen3_5.configuration_qwen3_5 import Qwen3_5TextConfig

    torch.manual_seed(0)
    sizes = {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
    }
    linear = {
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
    }
    config = Qwen3_5TextConfig(
        vocab_size=len(qwen3_5_tokenizer), num_hidden_layers=4, max_position_embeddings=512, **sizes, **linear
    )
    model = AutoModelForCausalLM.from_config(config).eval()
    stop = qwen3_5_tokenizer.convert_tokens_to_ids("<|im_end|>")
    with torch.no_grad():
        for weights in model.parameters():  # larger than at initialization, so that the layers matter
            weights.add_(torch.randn_like(weights) * 0.02)
        hidden = model.model(torch.randint(config.vocab_size, (8, 64))).last_hidden_state.mean(dim=(0, 1))
        for token, logit in [(stop, 13.0), *((token, 7.0) for token in qwen3_5_tokenizer.encode(LIKELY))]:
            model.lm_head.weight[token] += logit * hidden / hidden.square().sum()
    folder = tmp_path_factory.mktemp("tiny")
    model.save_pretrained(folder)
    qwen3_5_tokenizer.save_pretrained(folder)
    return folder
