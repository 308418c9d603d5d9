"""Figures of a run for Weights & Biases, or for nobody. Imports wandb only where a configuration asks for it."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from eval.config import ConfigError
from eval.run_dir import write_atomically
from train.sft_config import Wandb

logger = logging.getLogger(__name__)


class Tracker(Protocol):
    """Takes figures of a step as they come."""

    def log(self, step: int, figures: Mapping[str, Any]) -> None:
        """Nested figures have their names joined with slashes; None is left out."""

    def table(self, step: int, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Rows of text and numbers, to be looked at."""

    def close(self) -> None:
        """Whatever way the run ends."""


class NoTracker:
    """Takes figures and does nothing."""

    def log(self, step: int, figures: Mapping[str, Any]) -> None: ...

    def table(self, step: int, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None: ...

    def close(self) -> None: ...


class WandbTracker:
    """A run of Weights & Biases. Its id is kept in the run folder, so that a resumed run goes on in the same one."""

    def __init__(self, settings: Wandb, name: str, folder: Path, protocol: Mapping[str, Any]) -> None:
        """Begin the run, or go on with it.

        Raises:
            ConfigError: wandb is not installed, or the server refuses.
        """
        try:
            import wandb
        except ImportError as error:
            raise ConfigError(
                "wandb is set and not installed: pip install 'userturn[train]', or --wandb null"
            ) from error
        try:
            self._run = wandb.init(
                project=settings.project,
                mode=settings.mode,
                name=name,
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

    def table(self, step: int, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        import wandb

        shown = wandb.Table(columns=list(columns), data=[list(row) for row in rows])
        self._run.log({name: shown, "train/global_step": step})

    def close(self) -> None:
        self._run.finish()


def open_tracker(settings: Wandb | None, name: str, folder: Path, protocol: Mapping[str, Any]) -> Tracker:
    """The tracker that a configuration asks for, for the run `name` in `folder`."""
    return NoTracker() if settings is None else WandbTracker(settings, name, folder, protocol)


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
