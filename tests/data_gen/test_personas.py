"""The personas of the file are complete, and a damaged file is named."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
import yaml

from data_gen.personas import read_personas
from eval.config import ConfigError


def test_every_persona_is_complete_and_distinct() -> None:
    personas = read_personas()
    assert len(set(personas)) == len(personas) >= 20
    assert all(all(text.strip() for text in astuple(persona)) for persona in personas)
    assert {persona.level for persona in personas} == {"beginner", "intermediate", "expert"}


@pytest.mark.parametrize("text", ["- persona: only this", "x: [", "x: 1", "- 7", "- null", "[]", "", "\x00"])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "personas.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"personas\.yaml is not a valid personas file"):
        read_personas(path)


def test_a_binary_or_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "personas.yaml"
    with pytest.raises(ConfigError, match=r"personas\.yaml is not a valid personas file"):
        read_personas(path)
    path.write_bytes(b"- \xff")
    with pytest.raises(ConfigError, match=r"personas\.yaml is not a valid personas file"):
        read_personas(path)


WHOLE = {"persona": "A gardener.", "level": "expert", "goal": "x", "constraint": "I wait", "situation": "I'm here"}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("level", "novice", "level 'novice'; it must be one of beginner, intermediate, expert"),
        ("level", None, "level None; it must be a non-empty text"),
        ("goal", 7, "goal 7; it must be a non-empty text"),
        ("persona", "  ", "persona '  '; it must be a non-empty text"),
        ("situation", "on a balcony", "situation 'on a balcony'; it must be a clause that begins with I"),
        ("constraint", "It is late", "constraint 'It is late'; it must be a clause that begins with I"),
        ("hobby", "ferns", "is not a valid persona: .*unexpected keyword argument 'hobby'"),
    ],
)
def test_an_invalid_field_is_reported_with_its_entry(tmp_path: Path, field: str, value: Any, message: str) -> None:
    path = tmp_path / "personas.yaml"
    path.write_text(yaml.safe_dump([WHOLE, {**WHOLE, field: value}]))
    with pytest.raises(ConfigError, match=f"personas file: entry 2 (has )?{message}"):
        read_personas(path)
    path.write_text(yaml.safe_dump([WHOLE]))
    assert [astuple(persona) for persona in read_personas(path)] == [tuple(WHOLE.values())]
