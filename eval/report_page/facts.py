"""The settings of the runs in readable form: one phrase per setting, and which of them differ between runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.finished_runs import Run
from eval.paper.lineup import UNPERTURBED, line_up, perturbation_of, settings_of, split_settings

PHRASED = ("format", "format_options", "template_sha", "answers", "sampling", "answers_from", "perturbation")
"""Parts of a protocol that `_settings` formats specially."""
SHORT = {"sampling.temperature": "T=", "perturbation": "", "judge": "judged by "}
"""Prefix of a setting in a run's name; by default the name of the setting."""
UNKNOWN = "unknown"
MOST_NAMED = 4
"""Largest number of models named in a title."""


@dataclass(frozen=True)
class RunFacts:
    """One run as shown on the page."""

    tag: str
    """A letter, the same everywhere on the page."""
    name: str
    """A name that distinguishes it from the other runs."""
    folder: str
    total: int
    judged: int
    settings: Mapping[str, str]


@dataclass(frozen=True)
class Facts:
    """All runs; `shared` has the settings equal in all of them, `differing` the names of the others."""

    title: str
    runs: tuple[RunFacts, ...]
    shared: Mapping[str, str]
    differing: tuple[str, ...]

    @property
    def total(self) -> int:
        """Rows of all runs."""
        return sum(run.total for run in self.runs)

    @property
    def judged(self) -> int:
        """Rows with a judgement."""
        return sum(run.judged for run in self.runs)


def facts_of(runs: Sequence[Run]) -> Facts:
    """The facts of the runs, in the order given.

    Raises:
        ConfigError: two runs have the same settings.
    """
    names = _names(runs)
    facts = tuple(
        _run_facts(tag(number), name, run) for number, (name, run) in enumerate(zip(names, runs, strict=True))
    )
    keys = dict.fromkeys(key for run in facts for key in run.settings)
    differing = tuple(key for key in keys if len({run.settings.get(key) for run in facts}) > 1)
    shared = {key: facts[0].settings[key] for key in keys if key not in differing}
    return Facts(f"User turns of {_models(runs)}", facts, shared, differing)


def _models(runs: Sequence[Run]) -> str:
    """The models for the title: the model, a few configured names, or the number of models."""
    models = list(dict.fromkeys(run.protocol["model"] for run in runs))
    given = list(dict.fromkeys(run.given_name for run in runs))
    if len(models) == 1:
        return runs[0].model
    named = [name for name in given if name is not None]
    return ", ".join(named) if len(models) == len(named) == len(given) <= MOST_NAMED else f"{len(models)} models"


def _names(runs: Sequence[Run]) -> list[str]:
    """A distinct name for each run: its configured name or model plus differing settings, or else its full name."""
    parts = [settings_of(run) for run in runs]
    _, differing = split_settings(parts)
    for names in ([run.given_name or run.model for run in runs], [run.model for run in runs]):
        short = [", ".join([name, *_short_settings(part, differing)]) for name, part in zip(names, parts, strict=True)]
        if len(set(short)) == len(runs):
            return short
    full = {group.first.paths: group.name for group in line_up(runs).groups}
    return [full[run.paths] for run in runs]


def _short_settings(part: Mapping[str, Any], differing: Sequence[str]) -> list[str]:
    settings = [(SHORT.get(key, f"{key} "), part.get(key)) for key in differing]
    return [f"{name}{_format(value)}" for name, value in settings if value not in (None, UNPERTURBED)]


def tag(number: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _run_facts(tag: str, name: str, run: Run) -> RunFacts:
    return RunFacts(
        tag=tag,
        name=name,
        folder=", ".join(str(path) for path in run.paths),
        total=sum(summary.total for summary in run.summaries),
        judged=sum(summary.judged for summary in run.summaries),
        settings=_settings(run),
    )


def _settings(run: Run) -> dict[str, str]:
    protocol = run.protocol
    options = protocol.get("format_options") or {}
    chat_format = " ".join([run.format, *(f"{key}={_format(value)}" for key, value in sorted(options.items()))])
    other = {key: _format(value) for key, value in protocol.items() if key not in PHRASED}
    return {
        "model": _format(protocol["model"]),
        "judge": other.pop("judge", UNKNOWN),
        "chat format": chat_format,
        "template hash": _format(protocol.get("template_sha"))[:16],
        "history": other.pop("history", UNKNOWN),
        "user turns": _sampling(protocol["sampling"]),
        "answers": _answers(protocol),
        "perturbation": perturbation_of(run),
        **{key: value for key, value in other.items() if key != "model"},
        "code": _code(run),
        "made": _dates(run),
    }


def _answers(protocol: Mapping[str, Any]) -> str:
    own = _sampling(protocol["answers"])
    stored = protocol.get("answers_from")
    return own if stored in (None, protocol["model"]) else f"those of {_format(stored)}"


def _sampling(sampling: Mapping[str, Any]) -> str:
    """ "greedy, max_tokens 96, seed 0", or the temperature with every other field."""
    rest = {key: value for key, value in sampling.items() if key != "temperature"}
    if sampling["temperature"] == 0:
        rest = {key: value for key, value in rest.items() if key in ("max_tokens", "seed")}
        first = "temperature 0 (greedy)"
    else:
        first = f"temperature {sampling['temperature']:g}"
    return ", ".join([first, *(f"{key} {_format(value)}" for key, value in rest.items())])


def _code(run: Run) -> str:
    """The commits of all sessions of the run."""
    commits = []
    for session in _sessions(run):
        code = session.get("git") or {}
        changed = " with changes" if code.get("dirty_sha256") else ""
        commits.append(f"{code['commit'][:12]}{changed}" if code.get("commit") else f"{UNKNOWN} commit")
    return ", ".join(dict.fromkeys(commits)) or f"{UNKNOWN} commit"


def _dates(run: Run) -> str:
    days = sorted({str(session["started"])[:10] for session in _sessions(run) if session.get("started")})
    return UNKNOWN if not days else days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _sessions(run: Run) -> list[dict[str, Any]]:
    manifests = [json.loads((path / "manifest.json").read_text(encoding="utf-8")) for path in run.paths]
    return [session for manifest in manifests for session in manifest.get("sessions", [])]


def _format(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
