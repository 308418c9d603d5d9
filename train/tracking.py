"""Figures of a run for Weights & Biases, or for nobody. Imports wandb only where a configuration asks for it."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from eval.config import ConfigError
from eval.run_dir import write_atomically
from train.sft_config import SftConfig

logger = logging.getLogger(__name__)


class Tracker(Protocol):
    """Takes figures of a step as they come."""

    def log(self, step: int, figures: Mapping[str, Any]) -> None:
        """Nested figures have their names joined with slashes; None is left out."""

    def close(self) -> None:
        """Whatever way the run ends."""


class NoTracker:
    """Takes figures and does nothing."""

    def log(self, step: int, figures: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


class WandbTracker:
    """A run of Weights & Biases. Its id is kept in the run folder, so that a resumed run goes on in the same one."""

    def __init__(self, config: SftConfig, folder: Path, protocol: Mapping[str, Any]) -> None:
        """Begin the run, or go on with it.

        Raises:
            ConfigError: wandb is not installed, or the server refuses.
        """
        assert config.wandb is not None
        try:
            import wandb
        except ImportError as error:
            raise ConfigError(
                "wandb is set and not installed: pip install 'userturn[train]', or --wandb null"
            ) from error
        try:
            self._run = wandb.init(
                project=config.wandb.project,
                mode=config.wandb.mode,
                name=config.name,
                id=_run_id(folder / "wandb_run_id"),
                resume="allow",
                dir=str(folder),
                config=dict(protocol),
                settings=wandb.Settings(console="off", silent=True),
            )
        except (wandb.errors.Error, OSError) as error:
            raise ConfigError(f"wandb: {error}; try --wandb.mode offline, or --wandb null") from error
        # Steps that are made a second time after a kill would be dropped on wandb's own step axis.
        self._run.define_metric("train/global_step")
        self._run.define_metric("*", step_metric="train/global_step")
        logger.info("wandb run %s %s", self._run.id, self._run.url or "(offline)")

    def log(self, step: int, figures: Mapping[str, Any]) -> None:
        self._run.log({**dict(_flat(figures)), "train/global_step": step})

    def close(self) -> None:
        self._run.finish()


def open_tracker(config: SftConfig, folder: Path, protocol: Mapping[str, Any]) -> Tracker:
    """The tracker that `config` asks for, for the run in `folder`."""
    return NoTracker() if config.wandb is None else WandbTracker(config, folder, protocol)


def _run_id(path: Path) -> str:
    if not path.exists():
        write_atomically(path, secrets.token_hex(8) + "\n")
    return path.read_text(encoding="utf-8").strip()


def _flat(figures: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for name, value in figures.items():
        if isinstance(value, Mapping):
            flat += _flat(value, f"{prefix}{name}/")
        elif value is not None:
            flat.append((f"{prefix}{name}", value))
    return flat
