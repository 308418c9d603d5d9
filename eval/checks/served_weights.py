"""Whether an engine serves the weights of the folder: its log-probs of a text are those of transformers, and move.

A server that answers from an older copy, or from weights under other names, answers as well as the right one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from eval.checks.finding import Check, Finding, failed, passed, unchecked
from eval.checks.kernels import device_here
from eval.checks.model_files import gigabytes, weights_bytes
from eval.checks.probe_cost import HEAVY
from eval.checks.same_weights import (
    TOKENS,
    Compared,
    Said,
    allowed,
    compared,
    differing,
    is_last_norm,
    moved,
    unmoved,
)
from eval.config import ConfigError
from eval.engine import Completion, Prompt, Sampling

FIXED = Sampling(max_tokens=TOKENS)
LARGEST = 10e9
"""Bytes of weights that are compared at most where the engine has a GPU: transformers computes on the CPU meanwhile."""


class Scoring(Protocol):
    """An engine that can return the log-probs of what it generates."""

    dtype: str

    def generate_n(
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
        size, limit = weights_bytes(folder()), LARGEST if device_here() else HEAVY
        if size > limit:
            return unchecked(f"{gigabytes(size)} of weights are not computed a second time by transformers on this CPU")
        return served(engine_of, folder(), ids())

    return Check("served weights", look, needs=("pins", "template"))


def served(engine_of: Callable[[Path], Scoring], folder: Path, ids: Sequence[int]) -> Finding:
    """Compare the engine with transformers on the folder, and on a copy of it in which a weight has moved."""
    before, dtype = _compared(engine_of, folder, ids)
    most = allowed(dtype)
    todo = "look at the pins of vllm and transformers; another engine serves meanwhile"
    if told := differing(before, most):
        return failed(f"{told} ({dtype})", todo)
    with tempfile.TemporaryDirectory(prefix="userturn-moved-") as temporary:
        after, _ = _compared(engine_of, _with_moved_weight(folder, Path(temporary)), ids)
    if told := unmoved(before, after):
        return failed(told, todo)
    if told := differing(after, most):
        return failed(f"after a weight was moved, {told} ({dtype})", todo)
    return passed(f"log-probs are transformers' within {most:g} ({dtype}), and move with a weight")


def _compared(engine_of: Callable[[Path], Scoring], folder: Path, ids: Sequence[int]) -> tuple[Compared, str]:
    """What the engine generates held against transformers, and the engine's precision."""
    import torch
    from transformers import AutoModelForCausalLM

    engine = engine_of(folder)
    ((_, found),) = engine.generate_n([Prompt("fixed", ids, 0)], FIXED, frozenset(), 1, True)
    if not isinstance(found, list | tuple):
        raise ConfigError(f"the engine generated nothing: {found}; look at its log")
    said: Completion = found[0]
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, engine.dtype)).eval()
    return compared(model, ids, Said(said.ids, said.log_probs or ())), engine.dtype


def _with_moved_weight(folder: Path, to: Path) -> Path:
    """A folder of links to the files of a model, but for the weights with the last normalisation, which are others."""
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    found = False
    for path in filter(Path.is_file, folder.iterdir()):
        norms: list[str] = []
        if path.suffix == ".safetensors":
            with safe_open(path, framework="pt") as file:
                norms = [name for name in file.keys() if is_last_norm(name)]  # noqa: SIM118
        if not norms:
            (to / path.name).symlink_to(path.resolve())
            continue
        tensors = load_file(path)
        save_file(tensors | {norm: moved(tensors[norm]) for norm in norms}, to / path.name, metadata={"format": "pt"})
        found = True
    if not found:
        raise ConfigError(f"{folder} has no last normalisation to move; the check does not know its architecture")
    return to
