"""The personas of the file are whole, and a damaged file is named."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
import yaml

from data_gen.personas import read_personas
from eval.config import ConfigError


def test_every_persona_is_whole_and_another_one() -> None:
    personas = read_personas()
    assert len(set(personas)) == len(personas) >= 20
    assert all(all(text.strip() for text in astuple(persona)) for persona in personas)
    assert {persona.level for persona in personas} == {"beginner", "intermediate", "expert"}


@pytest.mark.parametrize("text", ["- persona: only this", "x: [", "x: 1", "- 7", "- null", "[]", "", "\x00"])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "personas.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"personas\.yaml holds no personas"):
        read_personas(path)


def test_a_file_that_is_no_text_or_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "personas.yaml"
    with pytest.raises(ConfigError, match=r"personas\.yaml holds no personas"):
        read_personas(path)
    path.write_bytes(b"- \xff")
    with pytest.raises(ConfigError, match=r"personas\.yaml holds no personas"):
        read_personas(path)


WHOLE = {"persona": "A gardener.", "level": "expert", "goal": "x", "constraint": "I wait", "situation": "I'm here"}


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("level", "novice", "level 'novice'; it can be beginner, intermediate, expert"),
        ("level", None, "level None, which is no text"),
        ("goal", 7, "goal 7, which is no text"),
        ("persona", "  ", "persona '  ', which is no text"),
        ("situation", "on a balcony", "situation 'on a balcony'; it must be a clause that begins with I"),
        ("constraint", "It is late", "constraint 'It is late'; it must be a clause that begins with I"),
        ("hobby", "ferns", "is no persona: .*unexpected keyword argument 'hobby'"),
    ],
)
def test_a_field_that_is_wrong_is_told_with_its_entry(tmp_path: Path, field: str, value: Any, told: str) -> None:
    path = tmp_path / "personas.yaml"
    path.write_text(yaml.safe_dump([WHOLE, {**WHOLE, field: value}]))
    with pytest.raises(ConfigError, match=f"personas: entry 2 (has )?{told}"):
        read_personas(path)
    path.write_text(yaml.safe_dump([WHOLE]))
    assert [astuple(persona) for persona in read_personas(path)] == [tuple(WHOLE.values())]
