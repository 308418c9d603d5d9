"""A BERT of random weights in the layout of sentence-transformers: it knows nothing, but it runs."""

from __future__ import annotations

import json
import string
from pathlib import Path

WIDTH = 32
WORDS = "the a of to is it in you i and what why how do can that more coat lighthouse see write poem dog explain simply"


def save(folder: Path, seed: int = 0, pooling: str = "pooling_mode_mean_tokens") -> Path:
    """Write weights, tokenizer and pooling; returns the folder."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    letters = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters), *WORDS.split()[2:]]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(pieces)), encoding="utf-8")
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    sizes = {"hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(dict.fromkeys(pieces)), **sizes)).save_pretrained(folder)
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": WIDTH, pooling: True}))
    return folder
