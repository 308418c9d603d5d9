"""YAML with a key twice is refused, wherever it stands; any other is what PyYAML makes of it."""

from __future__ import annotations

import pytest
import yaml

from eval import strict_yaml


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: 2\na: 3", 3),
        ("outer:\n  limit: 1\n  limit: 1", 3),
        ("- {x: 1}\n- {x: 1, 'x': 2}", 2),
    ],
)
def test_a_key_that_stands_twice_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(yaml.YAMLError, match=rf"duplicate key '\w+'\n.*line {line},"):
        strict_yaml.load(text)


@pytest.mark.parametrize(
    "text",
    ["", "a: {b: 1}\nc: {b: 1}", "[1, 2.5, null]", "base: &base {a: 1}\nown: {<<: *base, a: 2}"],
)
def test_other_text_is_read_as_usual(text: str) -> None:
    assert strict_yaml.load(text) == yaml.safe_load(text)


def test_nothing_but_plain_values_is_made() -> None:
    with pytest.raises(yaml.YAMLError):
        strict_yaml.load("!!python/object/apply:os.getcwd []")
