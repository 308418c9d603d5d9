"""A judge that a command line names: `--judge local`, `--judge openai --judge.model NAME`. It knows no judge."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from eval import plugin
from eval.command_line import load
from eval.config import Config, Plugin, options_for


class JudgeChoice(Config):
    """One judge, as a probe's configuration names it."""

    judge: Plugin = Field(description="a file of eval/judges/, with its options")


def chosen_judge(arguments: Sequence[str], prog: str, where: str = "judge") -> Plugin:
    """The judge of `arguments`, its options converted to what it takes.

    Args:
        where: what the options are called in messages.

    Raises:
        ValueError: there is no such judge.
        ConfigError: it takes no such option, or no such value of one.
    """
    judge = load(JudgeChoice, list(arguments), prog=prog, about="").judge
    constructor = plugin.load("eval.judges", judge.name).Judge.__init__
    return Plugin(name=judge.name, **options_for(constructor, judge.options, where))
