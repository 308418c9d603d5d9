"""Runs side by side: which differ in one thing alone, and a name for each that says what sets it apart.

Runs of different protocol stand in rows of their own; a table never adds them up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.config import ConfigError
from eval.finished_runs import Run
from eval.paper.published import read_paper
from eval.perturb import describe

OF_THE_MODEL = ("model", "format", "template_sha", "answers_sha")
"""Parts of a protocol that come with the model and that its name stands for."""
UNPERTURBED = "none"


@dataclass(frozen=True)
class Group:
    """Runs whose protocols are equal but for the varied part; `runs` is keyed by its value."""

    name: str
    runs: Mapping[Any, Run]

    @property
    def first(self) -> Run:
        """Any run of the group: they share the model and all that is not varied."""
        return next(iter(self.runs.values()))


@dataclass(frozen=True)
class Lineup:
    """Groups in the order of the paper's models, then by family and size."""

    groups: tuple[Group, ...]
    common: str
    """The parts of the protocol that all runs share, for a table's footer."""


def line_up(runs: Iterable[Run], varied: str | None = None) -> Lineup:
    """Group runs that differ in `varied` alone: "perturbation", "sampling.temperature", or None for one run a group.

    A group is named after its model, and after every other part of its protocol in which the groups differ. Where that
    tells two of them not apart, as of models that were trained into folders of one name, it has the name of its runs.

    Raises:
        ConfigError: two runs of a group have the same value of `varied`.
    """
    groups: dict[tuple[tuple[str, str], ...], dict[Any, Run]] = {}
    parts: list[dict[str, Any]] = []
    for run in runs:
        part = settings_of(run)
        value = part.pop(varied) if varied else None
        members = groups.setdefault(tuple((key, repr(part[key])) for key in sorted(part)), {})
        if not members:
            parts.append(part)
        if value in members:
            raise ConfigError(f"{members[value].name} and {run.name} would fill the same cell; leave one out")
        members[value] = run
    shared, differing = split_settings(parts)
    names = _names(parts, differing, [_given_name(members.values()) for members in groups.values()])
    made = [Group(name, members) for name, members in zip(names, groups.values(), strict=True)]
    return Lineup(
        tuple(sorted(made, key=lambda group: (_place(group.first), group.name))),
        ", ".join(f"{key} {_told(value)}" for key, value in shared.items()),
    )


def settings_of(run: Run) -> dict[str, Any]:
    """The protocol of a run, flat: "sampling.temperature" and so on; stored answers of the same model are its own."""
    flat: dict[str, Any] = {}
    for key, value in run.protocol.items():
        if isinstance(value, Mapping) and key != "perturbation":
            flat |= {f"{key}.{name}": inner for name, inner in value.items()}
        else:
            flat[key] = value
    flat["perturbation"] = perturbation_of(run)
    others = flat.get("answers_from") not in (None, run.protocol["model"])
    flat["answers_from"] = flat["answers_from"] if others else None
    return flat


def perturbation_of(run: Run) -> str:
    """A name for the perturbation with its options, such as "truncate fraction 0.5"; "none" without one."""
    return describe(run.protocol.get("perturbation"))


def select(runs: Sequence[Run], *, temperature: float | None = None) -> tuple[list[Run], list[str]]:
    """The unperturbed runs, of one temperature where it is given, with a note on what was left out."""
    perturbed = [run for run in runs if run.perturbed]
    warm = [run for run in runs if not run.perturbed and temperature not in (None, run.temperature)]
    kept = [run for run in runs if run not in perturbed and run not in warm]
    left_out = [f"{len(perturbed)} perturbed"] if perturbed else []
    left_out += [f"{len(warm)} at other temperatures than {temperature:g}"] if warm else []
    return kept, [f"Runs left out: {', '.join(left_out)}."] if left_out else []


def by_family(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Runs per family, under the paper's name where it has one, in the paper's order, then by name."""
    names = read_paper().families
    families: dict[str, list[Run]] = {}
    for run in runs:
        families.setdefault(names.get(run.format, run.format), []).append(run)
    order = list(names.values())
    return dict(sorted(families.items(), key=lambda item: (_index(order, item[0]), item[0])))


def split_settings(parts: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """What all share, and the keys in which they differ; what comes with the model is in neither."""
    keys = [key for key in dict.fromkeys(key for part in parts for key in part) if key not in OF_THE_MODEL]
    differing = [key for key in keys if len({repr(part.get(key)) for part in parts}) > 1]
    shared = {key: parts[0][key] for key in keys if key not in differing and parts[0][key] not in (None, UNPERTURBED)}
    return shared, differing


def _names(parts: Sequence[Mapping[str, Any]], differing: Sequence[str], given: Sequence[str | None]) -> list[str]:
    names = [_named(part, differing, lambda model: model.split("@", 1)[0]) for part in parts]
    if len(set(names)) < len(names):
        names = [
            _named({**part, "model": name or part["model"]}, differing, str)
            for part, name in zip(parts, given, strict=True)
        ]
    if len(set(names)) < len(names):
        names = [_named(part, [*differing, "template_sha"], str) for part in parts]
    return names


def _given_name(runs: Iterable[Run]) -> str | None:
    """The name that the configurations of all these runs give them."""
    names = {run.given_name for run in runs}
    return names.pop() if len(names) == 1 else None


def _named(part: Mapping[str, Any], differing: Sequence[str], model: Callable[[str], str]) -> str:
    apart = ", ".join(f"{key} {_told(part.get(key))}" for key in differing)
    return model(part["model"]) + (f" ({apart})" if apart else "")


def _told(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _place(run: Run) -> tuple[int, str, float]:
    return _index(read_paper().models, run.model), run.format, size_of(run.model)


def _index(order: Sequence[str], name: str) -> int:
    return list(order).index(name) if name in order else len(order)


def size_of(model: str) -> float:
    """Parameters in millions as a name tells them ("-135M", "-1.7B"); 0 where it tells none."""
    found = re.search(r"(?<![\w.])(\d+(?:\.\d+)?)([MB])(?![A-Za-z])", model, re.IGNORECASE)
    return float(found[1]) * (1000 if found[2].upper() == "B" else 1) if found else 0.0
