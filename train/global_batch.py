"""How a global batch is divided among processes and the passes of each. Pure arithmetic: starts no process.

`global_batch_size` is exact for any number of processes. `trl.per_device_train_batch_size` is an upper bound of the
rows per pass of a process: the largest size up to it that divides each process's share of the batch is used, and
gradients are accumulated over the passes.
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
"""Settings of TRL that would contradict the global batch with another number of processes, with the reason."""


def batch_settings(
    global_batch_size: int | None, given: Mapping[str, Any], defaults: Mapping[str, Any], processes: int
) -> dict[str, int]:
    """TRL's settings for steps of `global_batch_size` rows over `processes`; empty if the size is None.

    Args:
        given: TRL's settings in the configuration.
        defaults: TRL's defaults, by name.

    Raises:
        ConfigError: the processes cannot share the batch equally, or a setting that is derived from it is given.
    """
    if global_batch_size is None:
        return {}
    for name, reason in DERIVED.items():
        if given.get(name) is not None:
            raise ConfigError(f"trl.{name} cannot be set beside global_batch_size: {reason}")
    settings = {**defaults, **given}
    # A rollout of GRPO is a whole number of passes too; TRL's default for it is the global batch.
    rollout = settings.get("generation_batch_size") or global_batch_size
    unit = math.lcm(processes, settings.get("num_generations") or 1)
    for name, rows in (("global_batch_size", global_batch_size), ("trl.generation_batch_size", rollout)):
        if rows % processes:
            raise ConfigError(_indivisible(name, rows, processes, unit))
    share = math.gcd(global_batch_size, rollout) // processes
    size = max(size for size in range(1, min(settings[SIZE], share) + 1) if share % size == 0)
    return {SIZE: size, "gradient_accumulation_steps": global_batch_size // (size * processes)}


def division(arguments: Any, given: Mapping[str, Any]) -> str:
    """How a step is divided, in words, for a trainer's arguments and TRL's settings in the configuration."""
    size = arguments.per_device_train_batch_size
    passes = _count(arguments.gradient_accumulation_steps, "pass")
    words = f"{_count(arguments.world_size, 'process')} x {size} rows x {passes}"
    bound = given.get(SIZE) or type(arguments).per_device_train_batch_size
    return words if size == bound else f"{words}; trl.{SIZE} allows {bound} rows"


def _indivisible(name: str, rows: int, processes: int, unit: int) -> str:
    """The error, with the nearest sizes (multiples of `unit`) and numbers of processes that work."""
    below = rows // unit * unit
    sizes = [size for size in (below, below + unit) if size]
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
