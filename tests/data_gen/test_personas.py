"""The personas of the file are whole, and a damaged file is named."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import pytest

from data_gen.personas import read_personas
from eval.config import ConfigError


def test_every_persona_is_whole_and_another_one() -> None:
    personas = read_personas()
    assert len(set(personas)) == len(personas) >= 20
    assert all(all(text.strip() for text in astuple(persona)) for persona in personas)
    assert {persona.level for persona in personas} == {"beginner", "intermediate", "expert"}


@pytest.mark.parametrize("text", ["- persona: only this", "x: [", "- 7", ""])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "personas.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"personas\.yaml holds no personas"):
        read_personas(path)
