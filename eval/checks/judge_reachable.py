"""Whether a judge can be reached: it judges one known user turn in the same way as rows."""

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
"""A clear follow-up, whatever a judge decides in harder cases."""
NOW = {"cache": None, "mode": "online", "attempt_s": 10.0, "request_s": 20.0, "call_s": 40.0}
"""Options with which a judge asks its server at once and does not wait long; a cached verdict would prove nothing."""


def judge_checks(judges: Sequence[tuple[str, Plugin]]) -> list[Check]:
    """A check for each (name, judge), and one of its cache; equal ones are checked once."""
    checks: dict[str, Check] = {}
    for whose, judge in judges:
        checks.setdefault(repr(judge.model_dump()), _check(whose, judge))
    classes = [(whose, plugin.load("eval.judges", judge.name).Judge, judge.options) for whose, judge in judges]
    return [*checks.values(), *cache_checks(classes)]


def open_judge(judge: Plugin, **options: Any) -> Judge:
    """The judge, with those of `options` that it supports in place of its own.

    Raises:
        ConfigError: one of its settings cannot work.
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
