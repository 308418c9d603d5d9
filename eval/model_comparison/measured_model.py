"""One model of a comparison: its run, read once, with the outcome and location of each row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.finished_runs import Place, Run, read_runs
from eval.key_index import pack, unpack
from eval.paper.lineup import settings_of
from eval.paper.outcomes import Outcomes
from eval.summary import TaskSummary, summarise

LINES = 2**36
"""Upper bound of the lines of a rows file."""


class Places(Mapping[str, Place]):
    """The file and line of each row, by its id; its number in `rows` packs both."""

    def __init__(self, rows: Outcomes, files: Sequence[Path]) -> None:
        self._rows, self._files = rows, files

    def __getitem__(self, id: str) -> Place:
        file, line = unpack(self._rows.number(id), LINES)
        return Place(self._files[file], line)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True, eq=False)
class MeasuredModel:
    """A named model; its numbers are computed from its rows, not taken from the run's summary. Compared by identity."""

    name: str
    run: Run
    rows: Outcomes
    """By row id."""
    places: Places
    summaries: tuple[TaskSummary, ...]

    @property
    def tasks(self) -> set[str]:
        """The tasks of its rows."""
        return {outcome.task for outcome in self.rows.counts()}


def read_model(run: Run, name: str) -> MeasuredModel:
    """Read the rows of a run once, without keeping their text.

    Raises:
        ConfigError: the run has a malformed or unfinished row.
    """
    rows, files = Outcomes(), [path / "rows.jsonl" for path in run.paths]

    def recorded() -> Iterator[Dialogue]:
        for place, row in run.located_rows():
            rows.add(row, pack(files.index(place.path), place.line, LINES))
            yield row

    try:
        summaries = tuple(summarise(recorded()))
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"{run.name}: {error}") from error
    return MeasuredModel(name, run, rows, Places(rows, files), summaries)


def read_distinct(folders: Sequence[Path]) -> list[Run]:
    """The finished runs in the folders; folders with one protocol and different tasks are one run.

    Raises:
        ConfigError: a folder is given twice or holds no finished run, or two runs would fill the same row.
    """
    times = Counter(folder.resolve() for folder in folders)
    repeated = [folder for folder, count in times.items() if count > 1]
    if repeated:
        raise ConfigError(f"{repeated[0]} is given twice; give each run once")
    return read_runs(folders)


def names_of(runs: Sequence[Run]) -> list[str]:
    """A display name for each run: its configured name or its model, plus its folder where two would be equal.

    Raises:
        ConfigError: two names are equal even with their folders.
    """
    short = [run.given_name or run.model for run in runs]
    times = Counter(short)
    names = [name if times[name] == 1 else f"{name} ({run.name})" for name, run in zip(short, runs, strict=True)]
    refuse_equal_names(names)
    return names


def refuse_equal_names(names: Sequence[str]) -> None:
    """Raise a `ConfigError` if two names are equal."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ConfigError(
            f"two runs have the name {repeated[0]}; give each its own `name` in its configuration and run it again"
        )


def answers_of_another(run: Run) -> bool:
    """Whether its user turns follow the answers of another model: the cross condition."""
    return settings_of(run)["answers_from"] is not None


def file_name(name: str) -> str:
    """A name made safe for a file name: at most 60 letters, digits, dots and dashes."""
    return re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._")[:60] or "model"
