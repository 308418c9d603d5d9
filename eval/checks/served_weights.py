"""Whether an engine serves the weights of the folder: its log-probs of a text are those of transformers, and move.

A server that answers from an older copy, or from weights under other names, answers as well as the right one.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from eval.checks.finding import Check, Finding, failed, passed
from eval.config import ConfigError
from eval.engine import Completion, Prompt, Sampling

FIXED = Sampling(max_tokens=8)
TOLERANCE = {"float32": 0.01}
"""Largest difference of a log-prob, by precision."""
ROUNDED = 0.25
"""The same where weights are rounded to 16 bits."""
MOVED = 1.5
"""Factor of the weights that are moved: those of the last normalisation, which bear on every logit."""


class Scoring(Protocol):
    """An engine that tells the log-probs of what it generates."""

    dtype: str

    def several(
        self, prompts: Iterable[Prompt], sampling: Sampling, stop_ids: frozenset[int], n: int, log_probs: bool = False
    ) -> Iterator[tuple[str, Any]]: ...


def served_check(
    engine_of: Callable[[Path], Scoring], folder: Callable[[], Path], ids: Callable[[], Sequence[int]]
) -> Check:
    """The check "served weights".

    Args:
        engine_of: starts the engine on a model folder.
        ids: a fixed text.
    """

    def look() -> Finding:
        return served(engine_of, folder(), ids())

    return Check("served weights", look, needs=("pins", "template"))


def served(engine_of: Callable[[Path], Scoring], folder: Path, ids: Sequence[int]) -> Finding:
    """Compare the engine with transformers on the folder, and on a copy of it in which a weight has moved."""
    before, apart, dtype = _compared(engine_of, folder, ids)
    allowed = TOLERANCE.get(dtype, ROUNDED)
    todo = "look at the pins of vllm and transformers; another engine serves meanwhile"
    if not apart <= allowed:
        return failed(f"log-probs of a fixed text differ from transformers' by {apart:.2g} ({dtype})", todo)
    with tempfile.TemporaryDirectory(prefix="userturn-moved-") as temporary:
        moved = _with_moved_weight(folder, Path(temporary))
        after, apart, _ = _compared(engine_of, moved, ids)
    if before == after:
        return failed("a weight was moved and the engine says the same: it serves other weights than those given", todo)
    if not apart <= allowed:
        return failed(f"after a weight was moved, log-probs differ from transformers' by {apart:.2g} ({dtype})", todo)
    return passed(f"log-probs are transformers' within {allowed:g} ({dtype}), and move with a weight")


def _compared(engine_of: Callable[[Path], Scoring], folder: Path, ids: Sequence[int]) -> tuple[Completion, float, str]:
    """What the engine generates, how far its log-probs are from transformers', and its precision."""
    engine = engine_of(folder)
    ((_, found),) = engine.several([Prompt("fixed", ids, 0)], FIXED, frozenset(), 1, True)
    if not isinstance(found, list | tuple):
        raise ConfigError(f"the engine generated nothing: {found}; look at its log")
    said: Completion = found[0]
    own = _log_probs(folder, ids, said.ids, engine.dtype)
    return said, max(abs(a - b) for a, b in zip(said.log_probs or (), own, strict=True)), engine.dtype


def _log_probs(folder: Path, ids: Sequence[int], said: Sequence[int], dtype: str) -> list[float]:
    """Of the tokens `said` behind `ids`, by transformers."""
    import torch
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype)).eval()
    with torch.inference_mode():
        logits = model(torch.tensor([[*ids, *said]])).logits[0].float()
    rows = torch.log_softmax(logits[len(ids) - 1 : -1], dim=-1)
    return [float(row[token]) for row, token in zip(rows, said, strict=True)]


def _with_moved_weight(folder: Path, to: Path) -> Path:
    """A copy of a model folder in which the last normalisation is scaled."""
    from safetensors.torch import load_file, save_file

    name = None
    for path in sorted(folder.iterdir()):
        if path.suffix != ".safetensors":
            if path.is_file():
                shutil.copy(path, to)
            continue
        tensors = load_file(path)
        for norm in (norm for norm in tensors if norm.endswith("model.norm.weight")):
            tensors[norm], name = tensors[norm] * MOVED, norm
        save_file(tensors, to / path.name, metadata={"format": "pt"})
    if name is None:
        raise ConfigError(f"{folder} has no last normalisation to move; the check does not know its architecture")
    return to
