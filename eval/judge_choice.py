"""A judge chosen on the command line: `--judge local`, `--judge openai --judge.model NAME`. Knows no judge."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from eval.command_line import load
from eval.config import Config, ConfigError, Plugin
from eval.judge import Judge
from eval.plugin_fields import checked


class JudgeChoice(Config):
    """One judge, as a probe's configuration names it."""

    judge: Plugin = Field(description="a file of eval/judges/, with its options")


def chosen_judge(arguments: Sequence[str], prog: str, where: str = "judge") -> Plugin:
    """The judge of `arguments`, its options converted to what it takes.

    Args:
        where: what the options are called in messages.

    Raises:
        ValueError: there is no such judge.
        ConfigError: it has no such option, or a value is not valid.
    """
    judge = load(JudgeChoice, list(arguments), prog=prog, about="").judge
    return checked("eval.judges", "Judge", where)(judge)


def refuse_unbounded(config: Plugin, judge: Judge, missing: int, where: str = "judge") -> None:
    """Refuse a paid judge without a budget.

    Args:
        missing: user turns that it has to judge.
        where: what its options are called on the command line.

    Raises:
        ConfigError: the judge has none; the message says what it would cost at most, and how to set one.
    """
    if missing and judge.cost_bound and config.options.get("budget_usd") is None:
        raise ConfigError(
            f"{judge.id} has {missing} user turns to judge, at most ${missing * judge.cost_bound:.2f}; set a budget, "
            f"such as --{where}.budget_usd 5"
        )
