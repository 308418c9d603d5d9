"""Groups runs that differ in only one setting, and names each group by what distinguishes it from the others.

Runs with different protocols get separate rows; a table never pools them.
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
"""Parts of a protocol that are determined by the model, and implied by its name."""
UNPERTURBED = "none"


@dataclass(frozen=True)
class Group:
    """Runs whose protocols are equal except for the varied part; `runs` is keyed by its value."""

    name: str
    runs: Mapping[Any, Run]

    @property
    def first(self) -> Run:
        """A run of the group: all share the model and everything that is not varied."""
        return next(iter(self.runs.values()))


@dataclass(frozen=True)
class Lineup:
    """Groups in the paper's order of models, then by family and size."""

    groups: tuple[Group, ...]
    common: str
    """The parts of the protocol that all runs share, for a table's footer."""


def line_up(runs: Iterable[Run], varied: str | None = None) -> Lineup:
    """Group runs that differ only in `varied`: "perturbation", "sampling.temperature", or None for one run per group.

    A group's name is its model and every other part of its protocol in which the groups differ. If two names would be
    equal, as for models trained into folders of one name, the configured name of the runs replaces the model.

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
        ", ".join(f"{key} {_format(value)}" for key, value in shared.items()),
    )


def settings_of(run: Run) -> dict[str, Any]:
    """The protocol of a run as flat keys such as "sampling.temperature"; `answers_from` is None for its own answers."""
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
    """The unperturbed runs, at `temperature` if it is given, and notes on what was left out."""
    perturbed = [run for run in runs if run.perturbed]
    other = [run for run in runs if not run.perturbed and temperature not in (None, run.temperature)]
    kept = [run for run in runs if run not in perturbed and run not in other]
    left_out = [f"{len(perturbed)} perturbed"] if perturbed else []
    left_out += [f"{len(other)} at temperatures other than {temperature:g}"] if other else []
    return kept, [f"Runs left out: {', '.join(left_out)}."] if left_out else []


def by_family(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Runs per family, under the paper's name if it has one, in the paper's order, then by name."""
    names = read_paper().families
    families: dict[str, list[Run]] = {}
    for run in runs:
        families.setdefault(names.get(run.format, run.format), []).append(run)
    order = list(names.values())
    return dict(sorted(families.items(), key=lambda item: (_index(order, item[0]), item[0])))


def split_settings(parts: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """The settings that all share, and the keys in which they differ; neither includes `OF_THE_MODEL`."""
    keys = [key for key in dict.fromkeys(key for part in parts for key in part) if key not in OF_THE_MODEL]
    differing = [key for key in keys if len({repr(part.get(key)) for part in parts}) > 1]
    shared = {key: parts[0][key] for key in keys if key not in differing and parts[0][key] not in (None, UNPERTURBED)}
    return shared, differing


def _names(parts: Sequence[Mapping[str, Any]], differing: Sequence[str], given: Sequence[str | None]) -> list[str]:
    names = [_name(part, differing, lambda model: model.split("@", 1)[0]) for part in parts]
    if len(set(names)) < len(names):
        names = [
            _name({**part, "model": name or part["model"]}, differing, str)
            for part, name in zip(parts, given, strict=True)
        ]
    if len(set(names)) < len(names):
        names = [_name(part, [*differing, "template_sha"], str) for part in parts]
    return names


def _given_name(runs: Iterable[Run]) -> str | None:
    """The configured name of these runs, if they all have the same one."""
    names = {run.given_name for run in runs}
    return names.pop() if len(names) == 1 else None


def _name(part: Mapping[str, Any], differing: Sequence[str], model: Callable[[str], str]) -> str:
    settings = ", ".join(f"{key} {_format(part.get(key))}" for key in differing)
    return model(part["model"]) + (f" ({settings})" if settings else "")


def _format(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _place(run: Run) -> tuple[int, str, float]:
    return _index(read_paper().models, run.model), run.format, size_of(run.model)


def _index(order: Sequence[str], name: str) -> int:
    return list(order).index(name) if name in order else len(order)


def size_of(model: str) -> float:
    """Parameters in millions according to a model's name ("-135M", "-1.7B"); 0 if it does not say."""
    found = re.search(r"(?<![\w.])(\d+(?:\.\d+)?)([MB])(?![A-Za-z])", model, re.IGNORECASE)
    return float(found[1]) * (1000 if found[2].upper() == "B" else 1) if found else 0.0
