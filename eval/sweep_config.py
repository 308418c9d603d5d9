"""What a sweep is told: models x perturbations x temperatures, over one set of tasks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from eval.config import Config, ConfigError, Plugin, validate
from eval.probe_config import ProbeConfig

NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True)
class Cell:
    """One probe of a sweep; `name` is its folder below that of the sweep."""

    model: str
    name: str
    config: ProbeConfig


class SweepConfig(Config):
    """Configuration of `python -m eval.sweep`."""

    models: dict[str, dict[str, Any]] = Field(description="name -> the fields of a probe that belong to the model")
    temperatures: list[float] = Field([0.0, 0.3, 0.7, 1.0], min_length=1, description="of user turns, [0, 0.7]")
    perturbations: dict[str, Plugin | None] = Field(
        default={"full": None},
        description="name -> change of the answers; the first must be null, no change",
    )
    probe: dict[str, Any] = Field(description="the fields of a probe that all cells share")
    data_dir: Path | None = Field(None, description="folder of data files; else $USERTURN_DATA, else the Hub")
    run_dir: Path = Field(description="folder of the sweep; each cell is a run folder in it")
    dry_run: bool = Field(False, description="print the cells and what they would cost, and stop")

    @field_validator("models", "perturbations")
    @classmethod
    def _names_are_folder_names(cls, named: dict[str, Any]) -> dict[str, Any]:
        bad = [name for name in named if not NAME.fullmatch(name)]
        if bad or not named:
            raise ValueError(f"{bad[0]!r} is no name for a folder" if bad else "there must be at least one")
        return named

    @field_validator("perturbations")
    @classmethod
    def _first_is_none(cls, perturbations: dict[str, Plugin | None]) -> dict[str, Plugin | None]:
        if next(iter(perturbations.values())) is not None:
            raise ValueError("the first must be null: its cell makes the answers that the others change")
        return perturbations

    def cells(self) -> list[Cell]:
        """Every cell, each model's first one first: it generates the answers that the model's other cells use.

        Raises:
            ConfigError: a cell's configuration cannot work; the message names the cell.
        """
        return [cell for model in self.models for cell in self._cells_of(model)]

    def _cells_of(self, model: str) -> list[Cell]:
        cells: list[Cell] = []
        for perturbation, change in self.perturbations.items():
            for temperature in self.temperatures:
                name = f"{model}/{perturbation}-t{temperature:g}"
                given = {
                    **self.probe,
                    **self.models[model],
                    "sampling": {**self.probe.get("sampling", {}), "temperature": temperature},
                    "perturbation": change.model_dump() if change else None,
                    "answers_from": cells[0].config.run_dir if cells else None,
                    "data_dir": self.data_dir,
                    "run_dir": self.run_dir / name,
                }
                try:
                    cells.append(Cell(model, name, validate(ProbeConfig, given)))
                except ConfigError as error:
                    raise ConfigError(f"cell {name}: {error}") from error
        return cells
