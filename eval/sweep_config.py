"""Configuration of a sweep: models x answers x perturbations x temperatures, over one set of tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator

from eval.config import Config, ConfigError, Plugin, validate
from eval.probe_config import ProbeConfig

NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
SET_BY_SWEEP = ("answers_from", "perturbation", "data_dir", "shard", "run_dir")
"""Fields of a probe that the sweep sets for each cell."""


@dataclass(frozen=True)
class Cell:
    """One probe of a sweep; `name` is its folder relative to that of the sweep."""

    model: str
    name: str
    config: ProbeConfig
    cross: bool = False
    """Whether it is on the answers of another model of the sweep; rows with a response from the data are left out."""


class SweepConfig(Config):
    """Configuration of `python -m eval.sweep`."""

    models: dict[str, dict[str, Any]] = Field(description="name -> the fields of a probe that belong to the model")
    answers_from: dict[str, str | None] = Field(
        default={"own": None},
        description="name -> source of the answers: null (the model's own), the name of a model here, or a run folder",
    )
    temperatures: list[float] = Field([0.0, 0.3, 0.7, 1.0], min_length=1, description="of user turns, [0, 0.7]")
    perturbations: dict[str, Plugin | None] = Field(
        default={"full": None},
        description="name -> perturbation of the answers; the first must be null, no perturbation",
    )
    base: str | None = Field(
        None, description="the model that the others were trained from; if set, Table 2 is made, with verdicts"
    )
    probe: dict[str, Any] = Field(description="the fields of a probe that all cells share")
    data_dir: Path | None = Field(None, description="folder of data files; else $USERTURN_DATA, else the Hub")
    run_dir: Path = Field(description="folder of the sweep; each cell is a run folder in it")
    dry_run: bool = Field(False, description="print the cells and what they would cost, and stop")

    @field_validator("models", "answers_from", "perturbations")
    @classmethod
    def _names_are_folder_names(cls, named: dict[str, Any]) -> dict[str, Any]:
        bad = [name for name in named if not NAME.fullmatch(name)]
        if bad or not named:
            raise ValueError(f"{bad[0]!r} is not a valid folder name" if bad else "there must be at least one")
        return named

    @field_validator("perturbations")
    @classmethod
    def _first_is_none(cls, perturbations: dict[str, Plugin | None]) -> dict[str, Plugin | None]:
        if next(iter(perturbations.values())) is not None:
            raise ValueError("the first must be null: its cell generates the answers that the others perturb")
        return perturbations

    @model_validator(mode="after")
    def _base_is_probed_on_its_own_answers(self) -> SweepConfig:
        if self.base is not None and self.base not in self.models:
            raise ValueError(f"base: {self.base!r} is not one of the models, which are {', '.join(self.models)}")
        if self.base is not None and not self._on_own_answers(self.base):
            raise ValueError("base: Table 2 needs the models on their own answers; add `own: null` to answers_from")
        return self

    @model_validator(mode="after")
    def _probes_do_not_set_fields_of_the_sweep(self) -> SweepConfig:
        for where, fields in {
            "probe": self.probe,
            **{f"models.{name}": own for name, own in self.models.items()},
        }.items():
            sampling = fields.get("sampling")
            taken = [name for name in SET_BY_SWEEP if name in fields]
            taken += ["sampling.temperature"] if isinstance(sampling, dict) and "temperature" in sampling else []
            if taken:
                raise ValueError(f"{where}.{taken[0]}: the sweep sets it for each cell; remove it there")
        return self

    def cells(self) -> list[Cell]:
        """Every cell, after the one that generates its answers: first the models on their own answers, then the rest.

        Raises:
            ConfigError: a cell's configuration is invalid, or two cells have one name; the message names the cell.
        """
        own = [cell for model in self.models if self._on_own_answers(model) for cell in self._cells_of(model, None)]
        # Start with the model that ran last, as its weights are still loaded.
        others = [cell for model in reversed(self.models) for cell in self._cells_on_others(model)]
        cells = [*own, *others]
        repeated = [cell.name for place, cell in enumerate(cells) if cell.name in {c.name for c in cells[:place]}]
        if repeated:
            raise ConfigError(f"two cells have the name {repeated[0]}; give each temperature once and change names")
        return cells

    def compared(self, cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
        """The cells of Table 2: every model on its own answers, Base first, and the others on the answers of Base.

        All have the first perturbation and the first temperature.
        """
        assert self.base is not None
        by_name = {cell.name: cell for cell in cells}
        first = (next(iter(self.perturbations)), self.temperatures[0])
        models = [self.base, *(model for model in self.models if model != self.base)]
        on_base = next((name for name, source in self.answers_from.items() if source == self.base), None)
        own = [by_name[self._name(model, None, *first)] for model in models]
        cross = [by_name[self._name(model, on_base, *first)] for model in models[1:]] if on_base else []
        return own, cross

    def _on_own_answers(self, model: str) -> bool:
        return bool({None, model} & set(self.answers_from.values()))

    def _cells_on_others(self, model: str) -> Iterator[Cell]:
        for name, source in self.answers_from.items():
            if source is not None and source != model:
                yield from self._cells_of(model, name)

    def _cells_of(self, model: str, answers: str | None) -> Iterator[Cell]:
        """The cells of a model on the answers with this name, or on its own for None."""
        for perturbation, change in self.perturbations.items():
            for temperature in self.temperatures:
                sampling = self.probe.get("sampling", {}) | self.models[model].get("sampling", {})
                name = self._name(model, answers, perturbation, temperature)
                given = {
                    "name": model,
                    **self.probe,
                    **self.models[model],
                    "sampling": {**sampling, "temperature": temperature},
                    "perturbation": change.model_dump() if change else None,
                    "answers_from": self._source_of(model, answers, name),
                    "data_dir": self.data_dir,
                    "run_dir": self.run_dir / name,
                }
                try:
                    cross = answers is not None and self.answers_from[answers] in self.models
                    yield Cell(model, name, validate(ProbeConfig, given), cross)
                except ConfigError as error:
                    raise ConfigError(f"cell {name}: {error}") from error

    def _source_of(self, model: str, answers: str | None, name: str) -> Path | None:
        """The run folder whose answers the cell `name` uses; None where it generates them."""
        source = self.answers_from[answers] if answers else model
        if source not in self.models:
            folder = Path(str(source))
            if not (folder / "summary.json").is_file():
                raise ConfigError(
                    f"answers_from.{answers}: {folder} is neither a model of this sweep nor a finished run folder"
                )
            return folder
        first = self._name(str(source), None, next(iter(self.perturbations)), self.temperatures[0])
        return None if first == name else self.run_dir / first

    def _name(self, model: str, answers: str | None, perturbation: str, temperature: float) -> str:
        return f"{model}/{f'{answers}-' if answers else ''}{perturbation}-t{temperature:g}"
