"""Loads the seeds, which conversations start from, of every source that a configuration names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval import plugin
from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.held_out import is_for_training


def load_seeds(sources: Mapping[str, Mapping[str, Any]], seed: int, data_dir: Path | None) -> dict[str, list[Dialogue]]:
    """The seeds of each source, each ending in an assistant response.

    Raises:
        ConfigError: a source cannot be read or contains an evaluation row, or two seeds have the same id.
    """
    seeds = {name: _load(name, options, seed, data_dir) for name, options in sources.items()}
    repeated = [id for id, times in Counter(one.id for found in seeds.values() for one in found).items() if times > 1]
    if repeated:
        raise ConfigError(f"{len(repeated)} seeds occur twice, the first is {repeated[0]}; remove the copies")
    return seeds


def _load(name: str, options: Mapping[str, Any], seed: int, data_dir: Path | None) -> list[Dialogue]:
    try:
        found: list[Dialogue] = plugin.load("data_gen.seeds", name).load(seed=seed, data_dir=data_dir, **options)
    except (OSError, ValueError) as error:
        raise ConfigError(f"seeds.{name}: {error}") from error
    for one in found:
        if not is_for_training(one):
            raise ConfigError(f"seeds.{name}: {one.id} is an evaluation row of {one.task}; remove it")
        if not one.messages or one.messages[-1].role != "assistant":
            raise ConfigError(f"seeds.{name}: {one.id} does not end in an assistant response")
    return found
