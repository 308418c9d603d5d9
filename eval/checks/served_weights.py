"""Whether an engine serves the weights of a folder: its log-probs match transformers', also after a perturbation.

A server that still has an older copy, or weights under other names, answers just as plausibly as a correct one.
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
    Comparison,
    Served,
    compare,
    is_last_norm,
    mismatch,
    perturbed,
    stale,
    tolerance,
)
from eval.config import ConfigError
from eval.engine import Completion, Prompt, Sampling

FIXED = Sampling(max_tokens=TOKENS)
LARGEST = 10e9
"""Largest size of weights, in bytes, compared if the engine uses a GPU: transformers then computes on the CPU."""


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
        ids: token ids of a fixed text.
    """

    def look() -> Finding:
        size, limit = weights_bytes(folder()), LARGEST if device_here() else HEAVY
        if size > limit:
            return unchecked(f"{gigabytes(size)} of weights are too many to run in transformers on this CPU as well")
        return compare_served(engine_of, folder(), ids())

    return Check("served weights", look, needs=("pins", "template"))


def compare_served(engine_of: Callable[[Path], Scoring], folder: Path, ids: Sequence[int]) -> Finding:
    """Compare the engine with transformers on `folder`, then on a copy with a perturbed weight."""
    before, dtype = _compare(engine_of, folder, ids)
    allowed = tolerance(dtype)
    todo = "check the pins of vllm and transformers; meanwhile, another engine can serve"
    if problem := mismatch(before, allowed):
        return failed(f"{problem} ({dtype})", todo)
    with tempfile.TemporaryDirectory(prefix="userturn-perturbed-") as temporary:
        after, _ = _compare(engine_of, _perturbed_copy(folder, Path(temporary)), ids)
    if problem := stale(before, after):
        return failed(problem, todo)
    if problem := mismatch(after, allowed):
        return failed(f"after a weight was perturbed, {problem} ({dtype})", todo)
    return passed(f"log-probs match transformers' within {allowed:g} ({dtype}), also after a weight was perturbed")


def _compare(engine_of: Callable[[Path], Scoring], folder: Path, ids: Sequence[int]) -> tuple[Comparison, str]:
    """The engine's continuation of `ids` compared with transformers, and the engine's precision."""
    import torch
    from transformers import AutoModelForCausalLM

    engine = engine_of(folder)
    ((_, result),) = engine.generate_n([Prompt("fixed", ids, 0)], FIXED, frozenset(), 1, True)
    if not isinstance(result, list | tuple):
        raise ConfigError(f"the engine generated nothing: {result}; see its log")
    completion: Completion = result[0]
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, engine.dtype)).eval()
    return compare(model, ids, Served(completion.ids, completion.log_probs or ())), engine.dtype


def _perturbed_copy(folder: Path, to: Path) -> Path:
    """Link the files of a model folder into `to`; the weight file with the last norm is copied and perturbed."""
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    has_norm = False
    for path in filter(Path.is_file, folder.iterdir()):
        norms: list[str] = []
        if path.suffix == ".safetensors":
            with safe_open(path, framework="pt") as file:
                norms = [name for name in file.keys() if is_last_norm(name)]  # noqa: SIM118
        if not norms:
            (to / path.name).symlink_to(path.resolve())
            continue
        tensors = load_file(path)
        changed = tensors | {norm: perturbed(tensors[norm]) for norm in norms}
        save_file(changed, to / path.name, metadata={"format": "pt"})
        has_norm = True
    if not has_norm:
        raise ConfigError(f"{folder} has no last normalization to perturb; the check does not know its architecture")
    return to
