"""Configurations are frozen and closed; errors say what is known, and the options of a plugin are its signature's."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field, ValidationError

from eval.config import Config, ConfigError, options_for, validate


class Inner(Config):
    temperature: float = Field(0.0, ge=0, description="how random")
    seed: int = Field(3, description="which stream")


class Outer(Config):
    name: str = Field(description="what it is called")
    limit: int | None = Field(7, description="rows")
    mode: Literal["fast", "slow"] = Field("fast", description="how")
    sampling: Inner = Field(Inner(seed=9), description="nested")
    tasks: dict[str, dict[str, Any]] = Field(default={}, description="open")
    words: tuple[int, int] = Field((1, 9), description="least and most")
    names: list[str] = Field(default=[], description="of files")


def test_a_nested_default_may_be_set_in_part() -> None:
    assert validate(Outer, {"name": "a", "sampling": {"temperature": 1}}).sampling == Inner(temperature=1, seed=9)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        validate(Outer, {"nmae": 1, "limit": "x", "mode": "y"})
    assert len(str(error.value).splitlines()) == 4


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sampling": {"temperature": float("inf")}}, "sampling.temperature = inf: Input should be a finite number"),
        (
            {"tasks": "pocket"},
            r"tasks = 'pocket': it must be a mapping; write tasks: \{\.\.\.\} in the YAML or --tasks\.FIELD VALUE",
        ),
        ({"tasks": {"a": "3"}}, r"tasks\.a = '3': it must be a mapping; .* --tasks\.a\.FIELD VALUE"),
        (
            {"words": "1,2"},
            r"words = '1,2': it must be a list; write words: \[\.\.\.\] in the YAML or --words '\[\.\.\.\]'",
        ),
        ({"names": "a"}, r"names = 'a': it must be a list; .* --names '\[\.\.\.\]'"),
        ({"sampling": 3}, r"sampling = 3: it must be a mapping; .* --sampling\.FIELD VALUE"),
    ],
)
def test_a_value_that_cannot_be_is_told_with_what_could(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        validate(Outer, {"name": "a", **values})


def test_a_configuration_is_frozen() -> None:
    with pytest.raises(ValidationError):
        validate(Outer, {"name": "a"}).limit = 3


def toy_load(
    limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None, split: Literal["a", "b"] = "a"
) -> None:
    """A signature for `options_for`."""


def test_options_are_checked_and_converted_by_the_signature() -> None:
    given = {"limit": "50", "split": "b"}
    assert options_for(toy_load, given, "tasks.toy", ours=["seed", "data_dir"]) == {"limit": 50, "split": "b"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"limt": 5}, "unknown key 'limt' in tasks.toy; known are limit, split. Did you mean limit"),
        ({"seed": 5}, "unknown key 'seed'"),
        ({"limit": "many"}, "tasks.toy.limit = 'many'"),
        ({"split": "c"}, "tasks.toy.split = 'c'.*'a' or 'b'"),
    ],
)
def test_options_that_no_signature_takes_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        options_for(toy_load, given, "tasks.toy", ours=["seed", "data_dir"])


def test_an_unknown_one_of_very_many_options_is_named_without_the_others() -> None:
    """A list of all settings of a trainer of TRL, over a hundred, would bury the one that is meant."""
    settings = [inspect.Parameter(f"option_{i}", inspect.Parameter.KEYWORD_ONLY, annotation=int) for i in range(100)]

    def wide(**given: int) -> None:
        """Takes what its signature says."""

    wide.__signature__ = inspect.Signature(settings)  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match=r"^unknown key 'optin_7' in trl\. Did you mean option_7\?$"):
        options_for(wide, {"optin_7": 1}, "trl")
    with pytest.raises(ConfigError, match=r"^unknown key 'zzz' in trl, and none of its 100 keys is similar\.$"):
        options_for(wide, {"zzz": 1}, "trl")
