"""A configuration is known by its keys, and every committed one by the command in its first line."""

from __future__ import annotations

import shlex

import pytest
import yaml

from eval.config import Config, ConfigError
from eval.preflighting import command_of, preflights


def test_every_preflight_keeps_the_contract() -> None:
    known = preflights()
    assert {"eval.probe", "eval.sweep", "train.sft", "train.rl", "data_gen.run"} <= known.keys()
    assert all(issubclass(one.CONFIG, Config) and callable(one.checks) for one in known.values())


def test_every_committed_configuration_is_known(repository) -> None:
    known, seen = preflights(), set()
    for path in sorted((repository / "configs").rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        words = shlex.split(text.splitlines()[0].removeprefix("# "))
        module = words[words.index("-m") + 1] if "-m" in words else None
        if module in known and f"--config {path.relative_to(repository)}" in shlex.join(words):
            assert command_of(yaml.safe_load(text), path.name) == module, path
            seen.add(module)
    assert seen == known.keys()


@pytest.mark.parametrize("values", [{}, {"fp16": True, "zero_optimization": {"stage": 3}}])
def test_other_files_are_told_apart(values) -> None:
    with pytest.raises(ConfigError, match=r"x\.yaml is not a configuration of .*train\.sft"):
        command_of(values, "x.yaml")
