"""Whether a judge can be reached: one canary is judged, as rows will be."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from eval import plugin
from eval.checks.cache_folder import cache_checks
from eval.checks.finding import Check, Finding, failed, passed, warned
from eval.config import Plugin
from eval.dialogue import Dialogue, Failure, Message
from eval.judge import Judge

CANARY = Dialogue(
    "canary",
    (
        Message("user", "How many eggs do I need for two cakes?"),
        Message("assistant", "A cake takes 3 eggs, so two cakes take 2 x 3 = 6 eggs."),
        Message("user", "Why does each cake take 3 eggs? Would 4 of the 6 eggs do for two small cakes?"),
    ),
)
"""A turn that follows up, whatever a judge may think of finer ones."""
NOW = {"cache": None, "mode": "online", "attempt_s": 10.0, "request_s": 20.0, "call_s": 40.0}
"""Options of a judge that asks its server at once and does not wait for long: a remembered verdict reaches nobody."""


def judge_checks(judges: Sequence[tuple[str, Plugin]]) -> list[Check]:
    """A check "judge" for each of (whose it is, judge), and one of its cache; equal ones once."""
    checks: dict[str, Check] = {}
    for whose, judge in judges:
        checks.setdefault(repr(judge.model_dump()), _check(whose, judge))
    classes = [(whose, plugin.load("eval.judges", judge.name).Judge, judge.options) for whose, judge in judges]
    return [*checks.values(), *cache_checks(classes)]


def open_judge(judge: Plugin, **options: Any) -> Judge:
    """The judge, with those of `options` that it takes in place of its own.

    Raises:
        ConfigError: a setting of it cannot work.
    """
    made = plugin.load("eval.judges", judge.name).Judge
    known = inspect.signature(made.__init__).parameters
    opened: Judge = made(**judge.options | {name: value for name, value in options.items() if name in known})
    return opened


def _check(whose: str, judge: Plugin) -> Check:
    def look() -> Finding:
        opened = open_judge(judge, **NOW)
        ((_, verdict),) = opened.judge([CANARY])
        if isinstance(verdict, Failure):
            return failed(f"{opened.id} did not judge a canary: {verdict.kind}, {verdict.detail}", _advice(judge))
        told = f"{opened.id} calls a canary {verdict.label}, genuine {verdict.genuine}"
        if not verdict.genuine:
            return warned(told, "the canary is a plain follow-up: compare with labels, `python -m eval.agreement`")
        return passed(told)

    return Check(whose, look)


def _advice(judge: Plugin) -> str:
    where = f" at {judge.options['base_url']}" if "base_url" in judge.options else ""
    return f"see that the judge's server{where} runs and can be reached from here, or take another judge"
