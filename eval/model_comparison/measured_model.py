"""One model of a comparison: its run, read once, and what each row of it shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.finished_runs import Place, Run, read_runs
from eval.paper.lineup import settings_of
from eval.paper.outcomes import Outcomes
from eval.summary import TaskSummary, summarise

LINES = 2**36
"""More lines than a file of rows has."""


class Places(Mapping[str, Place]):
    """Where each row stands, by its id: its number is that of its file times `LINES`, and that of its line."""

    def __init__(self, rows: Outcomes, files: Sequence[Path]) -> None:
        self._rows, self._files = rows, files

    def __getitem__(self, id: str) -> Place:
        file, line = divmod(self._rows.number(id), LINES)
        return Place(self._files[file], line)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


@dataclass(frozen=True, eq=False)
class MeasuredModel:
    """A model under its name, one object for each. Its numbers come from its rows alone, not from the run's summary."""

    name: str
    run: Run
    rows: Outcomes
    """By the id of the row."""
    places: Places
    summaries: tuple[TaskSummary, ...]

    @property
    def tasks(self) -> set[str]:
        """The tasks of its rows."""
        return {outcome.task for outcome in self.rows.counts()}


def read_model(run: Run, name: str) -> MeasuredModel:
    """Read the rows of a run, once; their text is not kept.

    Raises:
        ConfigError: a line of the run is no finished row.
    """
    rows, files = Outcomes(), [path / "rows.jsonl" for path in run.paths]

    def seen() -> Iterator[Dialogue]:
        for place, row in run.located_rows():
            rows.add(row, LINES * files.index(place.path) + place.line)
            yield row

    try:
        summaries = tuple(summarise(seen()))
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"{run.name}: {error}") from error
    return MeasuredModel(name, run, rows, Places(rows, files), summaries)


def read_distinct(folders: Sequence[Path]) -> list[Run]:
    """The finished runs in the folders; folders of one protocol with different tasks are one run.

    Raises:
        ConfigError: a folder is named twice or holds no finished run, or two runs would fill the same row.
    """
    times = Counter(folder.resolve() for folder in folders)
    repeated = [folder for folder, count in times.items() if count > 1]
    if repeated:
        raise ConfigError(f"{repeated[0]} is named twice; name each run once")
    return read_runs(folders)


def names_of(runs: Sequence[Run]) -> list[str]:
    """What each run is called: by its configuration, else by its model, with its folder where two are called alike.

    Raises:
        ConfigError: two are called alike and their folders too.
    """
    called = [run.given_name or run.model for run in runs]
    times = Counter(called)
    names = [name if times[name] == 1 else f"{name} ({run.name})" for name, run in zip(called, runs, strict=True)]
    refuse_alike(names)
    return names


def refuse_alike(names: Sequence[str]) -> None:
    """Raise a `ConfigError` if two names are one."""
    alike = [name for name, times in Counter(names).items() if times > 1]
    if alike:
        raise ConfigError(f"two runs are called {alike[0]}; give each a `name` in its configuration and run it again")


def answers_of_another(run: Run) -> bool:
    """Whether its user turns react to the answers of another model: the cross condition."""
    return settings_of(run)["answers_from"] is not None


def file_name(name: str) -> str:
    """A name as part of a file's name: letters, digits, dots and dashes, 60 of them at most."""
    return re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._")[:60] or "model"
