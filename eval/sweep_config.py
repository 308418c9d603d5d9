"""What a sweep is told: models x answers x perturbations x temperatures, over one set of tasks."""

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
OURS = ("answers_from", "perturbation", "data_dir", "shard", "run_dir")
"""Fields of a probe that the sweep gives to each cell."""


@dataclass(frozen=True)
class Cell:
    """One probe of a sweep; `name` is its folder below that of the sweep."""

    model: str
    name: str
    config: ProbeConfig
    cross: bool = False
    """Whether it is on the answers of another model of the sweep: rows with a response of the data are left out."""


class SweepConfig(Config):
    """Configuration of `python -m eval.sweep`."""

    models: dict[str, dict[str, Any]] = Field(description="name -> the fields of a probe that belong to the model")
    answers_from: dict[str, str | None] = Field(
        default={"own": None},
        description="name -> whose answers: null, the model's own; another model's, by its name here; a run folder's",
    )
    temperatures: list[float] = Field([0.0, 0.3, 0.7, 1.0], min_length=1, description="of user turns, [0, 0.7]")
    perturbations: dict[str, Plugin | None] = Field(
        default={"full": None},
        description="name -> change of the answers; the first must be null, no change",
    )
    base: str | None = Field(
        None, description="the one of the models that the others were trained from: Table 2 is made, with verdicts"
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
            raise ValueError(f"{bad[0]!r} is no name for a folder" if bad else "there must be at least one")
        return named

    @field_validator("perturbations")
    @classmethod
    def _first_is_none(cls, perturbations: dict[str, Plugin | None]) -> dict[str, Plugin | None]:
        if next(iter(perturbations.values())) is not None:
            raise ValueError("the first must be null: its cell makes the answers that the others change")
        return perturbations

    @model_validator(mode="after")
    def _base_is_probed_on_its_own_answers(self) -> SweepConfig:
        if self.base is not None and self.base not in self.models:
            raise ValueError(f"base: {self.base!r} is none of the models; they are {', '.join(self.models)}")
        if self.base is not None and not self._own(self.base):
            raise ValueError("base: Table 2 needs the models on their own answers; add `own: null` to answers_from")
        return self

    @model_validator(mode="after")
    def _probes_leave_to_the_sweep_what_it_sets(self) -> SweepConfig:
        for where, fields in {
            "probe": self.probe,
            **{f"models.{name}": own for name, own in self.models.items()},
        }.items():
            sampling = fields.get("sampling")
            taken = [name for name in OURS if name in fields]
            taken += ["sampling.temperature"] if isinstance(sampling, dict) and "temperature" in sampling else []
            if taken:
                raise ValueError(f"{where}.{taken[0]}: the sweep sets it in each cell; leave it out there")
        return self

    def cells(self) -> list[Cell]:
        """Every cell, behind the one that generates its answers: first the models on their own answers, then the rest.

        Raises:
            ConfigError: a cell's configuration cannot work, or two have one name; the message names the cell.
        """
        own = [cell for model in self.models if self._own(model) for cell in self._cells_of(model, None)]
        # The model that spoke last goes on, as its weights are there.
        others = [cell for model in reversed(self.models) for cell in self._cells_on_others(model)]
        cells = [*own, *others]
        repeated = [cell.name for place, cell in enumerate(cells) if cell.name in {c.name for c in cells[:place]}]
        if repeated:
            raise ConfigError(f"two cells are named {repeated[0]}; give each temperature once, and other names")
        return cells

    def compared(self, cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
        """The cells of Table 2: every model on its own answers, Base first, and the others on the answers of Base.

        Of the perturbations and temperatures it has the first.
        """
        assert self.base is not None
        by_name = {cell.name: cell for cell in cells}
        first = (next(iter(self.perturbations)), self.temperatures[0])
        models = [self.base, *(model for model in self.models if model != self.base)]
        on_base = next((name for name, source in self.answers_from.items() if source == self.base), None)
        own = [by_name[self._name(model, None, *first)] for model in models]
        cross = [by_name[self._name(model, on_base, *first)] for model in models[1:]] if on_base else []
        return own, cross

    def _own(self, model: str) -> bool:
        return bool({None, model} & set(self.answers_from.values()))

    def _cells_on_others(self, model: str) -> Iterator[Cell]:
        for name, source in self.answers_from.items():
            if source is not None and source != model:
                yield from self._cells_of(model, name)

    def _cells_of(self, model: str, answers: str | None) -> Iterator[Cell]:
        """The cells of a model on answers of that name, on its own for None."""
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
                    f"answers_from.{answers}: {folder} is neither a model of this sweep nor a finished run"
                )
            return folder
        first = self._name(str(source), None, next(iter(self.perturbations)), self.temperatures[0])
        return None if first == name else self.run_dir / first

    def _name(self, model: str, answers: str | None, perturbation: str, temperature: float) -> str:
        return f"{model}/{f'{answers}-' if answers else ''}{perturbation}-t{temperature:g}"
