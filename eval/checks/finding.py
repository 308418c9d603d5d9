"""The result of a check: pass, warn, fail or not checked, in one line, and what to do about it. Knows no check."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from eval.config import ConfigError

SPLIT = re.compile(r"; |(?<=\))\. (?=\w)")
"""Separates, in an error's text, what is wrong from what to do."""
Status = Literal["pass", "warn", "fail", "not checked"]


@dataclass(frozen=True)
class Finding:
    """The result of a check."""

    status: Status
    told: str
    """One line."""
    todo: str = ""
    """What to do about it."""
    shown: str = ""
    """More lines for inspection, such as an example."""


def passed(told: str, shown: str = "") -> Finding:
    """The finding that nothing is wrong."""
    return Finding("pass", told, shown=shown)


def warned(told: str, todo: str, shown: str = "") -> Finding:
    """The finding that the run would start, but with a problem."""
    return Finding("warn", told, todo, shown)


def failed(told: str, todo: str) -> Finding:
    """The finding that the run would fail, or that its results would be useless."""
    return Finding("fail", told, todo)


def unchecked(told: str, todo: str = "") -> Finding:
    """The finding that this cannot be checked here."""
    return Finding("not checked", told, todo)


@dataclass(frozen=True)
class Check:
    """One check of a run."""

    name: str
    look: Callable[[], Finding]
    """A `ConfigError` that it raises is a failure: "what is wrong; what to do"."""
    needs: tuple[str, ...] = ()
    """Names of checks without whose success this one cannot run."""


def examine(checks: Iterable[Check]) -> Iterator[tuple[str, Finding]]:
    """Run the checks in order; yields (name, finding) of each."""
    lacking: set[str] = set()
    for check in checks:
        missing = [name for name in check.needs if name in lacking]
        finding = unchecked(f"needs {', '.join(missing)}") if missing else _found(check)
        if finding.status in ("fail", "not checked"):
            lacking.add(check.name)
        yield check.name, finding


def is_go(findings: Iterable[Finding]) -> bool:
    """Whether the run may start: nothing failed."""
    return all(finding.status != "fail" for finding in findings)


def _found(check: Check) -> Finding:
    try:
        return check.look()
    except ConfigError as error:
        told, _, todo = SPLIT.sub("\n", str(error), count=1).partition("\n")
        return failed(told, todo)
    except Exception as error:  # a library that breaks here would break the run too
        return failed(f"{type(error).__name__}: {error}", "it would stop the run too; see the package that raises it")
