"""What a check finds: pass, warn, fail or not checked, in a line, and what to do about it. It knows no check."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from eval.config import ConfigError

SPLIT = re.compile(r"; |(?<=\))\. (?=\w)")
"""Where an error's text stops saying what is wrong and begins to say what to do."""
Status = Literal["pass", "warn", "fail", "not checked"]


@dataclass(frozen=True)
class Finding:
    """The outcome of a check."""

    status: Status
    told: str
    """One line."""
    todo: str = ""
    """What to do about it."""
    shown: str = ""
    """More lines for a person to look at, such as an example."""


def passed(told: str, shown: str = "") -> Finding:
    """All is well."""
    return Finding("pass", told, shown=shown)


def warned(told: str, todo: str, shown: str = "") -> Finding:
    """The run would start, and may disappoint."""
    return Finding("warn", told, todo, shown)


def failed(told: str, todo: str) -> Finding:
    """The run would fail, or be worth nothing."""
    return Finding("fail", told, todo)


def unchecked(told: str, todo: str = "") -> Finding:
    """Nothing could be said here."""
    return Finding("not checked", told, todo)


@dataclass(frozen=True)
class Check:
    """Something to look at."""

    name: str
    look: Callable[[], Finding]
    """A `ConfigError` that it raises is a failure: "what is wrong; what to do"."""
    needs: tuple[str, ...] = ()
    """Checks without whose success there is nothing to look at."""


def examine(checks: Iterable[Check]) -> Iterator[tuple[str, Finding]]:
    """(name, finding) of each check, in order, as each is known."""
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
