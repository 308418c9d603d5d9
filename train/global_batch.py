"""How one global batch is divided among processes and the passes of each. Pure arithmetic: it starts no process.

`global_batch_size` is exact, whatever the number of processes. `trl.per_device_train_batch_size` is an upper bound of
what a process takes in one pass: the largest size up to it is used with which all processes together divide the global
batch, and gradients are accumulated over as many passes as that leaves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from eval.config import ConfigError

SIZE = "per_device_train_batch_size"
DERIVED = {
    "gradient_accumulation_steps": "it is derived from global_batch_size",
    "steps_per_generation": "it counts passes, whose size depends on the number of processes; set "
    "trl.generation_batch_size, which counts episodes",
}
"""Settings of TRL that would contradict a global batch on another number of processes, with the reason."""


def divided(
    global_batch_size: int | None, given: Mapping[str, Any], defaults: Mapping[str, Any], processes: int
) -> dict[str, int]:
    """The settings of TRL with which so many processes make steps of `global_batch_size` rows; none if that is None.

    Args:
        given: settings of TRL in the configuration.
        defaults: TRL's own, by name.

    Raises:
        ConfigError: the processes cannot share the batch equally, or a setting is given that is derived from it.
    """
    if global_batch_size is None:
        return {}
    for name, reason in DERIVED.items():
        if given.get(name) is not None:
            raise ConfigError(f"trl.{name} cannot be set beside global_batch_size: {reason}")
    settings = {**defaults, **given}
    # A rollout of GRPO is a whole number of passes too; TRL's default for it is the global batch.
    rollout = settings.get("generation_batch_size") or global_batch_size
    whole = math.lcm(processes, settings.get("num_generations") or 1)
    for name, rows in (("global_batch_size", global_batch_size), ("trl.generation_batch_size", rollout)):
        if rows % processes:
            raise ConfigError(_indivisible(name, rows, processes, whole))
    share = math.gcd(global_batch_size, rollout) // processes
    size = max(size for size in range(1, min(settings[SIZE], share) + 1) if share % size == 0)
    return {SIZE: size, "gradient_accumulation_steps": global_batch_size // (size * processes)}


def division(arguments: Any, given: Mapping[str, Any]) -> str:
    """How a step is divided, in words, from the arguments of a trainer and what a configuration has given it."""
    size = arguments.per_device_train_batch_size
    passes = _count(arguments.gradient_accumulation_steps, "pass")
    words = f"{_count(arguments.world_size, 'process')} x {size} rows x {passes}"
    bound = given.get(SIZE) or type(arguments).per_device_train_batch_size
    return words if size == bound else f"{words}; trl.{SIZE} allows {bound} rows"


def _indivisible(name: str, rows: int, processes: int, whole: int) -> str:
    """What is wrong, with the nearest sizes and numbers of processes that work; `whole` divides such a size."""
    below = rows // whole * whole
    sizes = [size for size in (below, below + whole) if size]
    divisors = [number for number in range(1, rows + 1) if rows % number == 0]
    fewer = [number for number in divisors if number < processes][-1:]
    more = [number for number in divisors if number > processes][:1]
    return (
        f"{name} is {rows}, which {processes} processes cannot share equally; set it to {_either(sizes)}, or start "
        f"{_either([*fewer, *more])} processes"
    )


def _either(numbers: list[int]) -> str:
    return " or ".join(map(str, numbers))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}es"
