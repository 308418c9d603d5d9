"""A judge on a command line: its options are converted, and one that it does not take is named."""

from __future__ import annotations

import pytest

from eval.config import ConfigError
from eval.judge_choice import chosen_judge


def test_options_are_of_the_kinds_that_the_judge_takes() -> None:
    assert chosen_judge(["--judge", "grounding"], "prog").options == {}
    chosen = chosen_judge(["--judge", "openai", "--judge.concurrency", "8", "--judge.cache=null"], "prog")
    assert (chosen.name, chosen.options) == ("openai", {"concurrency": 8, "cache": None})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--judge", "oracle"], "no eval/judges/oracle.py"),
        (["--judge", "grounding", "--judge.model", "m"], "unknown key 'model' in here"),
        (["--judge", "openai", "--judge.concurrency", "many"], "here.concurrency = 'many'"),
        ([], "judge is not set"),
    ],
)
def test_what_is_no_judge_is_refused(arguments: list[str], message: str) -> None:
    with pytest.raises((ConfigError, ValueError), match=message):
        chosen_judge(arguments, "prog", where="here")
