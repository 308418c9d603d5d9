"""The people who speak as the user, from `seeds/personas.yaml`. It knows no plan."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from data_gen.plan import LEVELS, Persona
from eval import strict_yaml
from eval.config import ConfigError

FILE = Path(__file__).parent / "seeds" / "personas.yaml"
CLAUSES = ("constraint", "situation")
"""Fields that a user may say, in the first person."""


def read_personas(path: Path = FILE) -> list[Persona]:
    """Every persona of the file, in order.

    Raises:
        ConfigError: the file is no list of mappings with the fields of `Persona`, or a field is not as it has to be.
    """
    try:
        entries = strict_yaml.load(path.read_text(encoding="utf-8"))
        if not isinstance(entries, list) or not entries:
            raise ValueError("it is no list of personas, or an empty one")
        return [_persona(number, fields) for number, fields in enumerate(entries, start=1)]
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{path} holds no personas: {error}") from error


def _persona(number: int, fields: Any) -> Persona:
    """The persona of one entry.

    Raises:
        ValueError: it is none.
    """
    try:
        persona = Persona(**fields)
    except TypeError as error:
        raise ValueError(f"entry {number} is no persona: {error}") from error
    for name, text in asdict(persona).items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"entry {number} has {name} {text!r}, which is no text")
        if name in CLAUSES and not text.startswith(("I ", "I'")):
            raise ValueError(f"entry {number} has {name} {text!r}; it must be a clause that begins with I")
    if persona.level not in LEVELS:
        raise ValueError(f"entry {number} has level {persona.level!r}; it can be {', '.join(LEVELS)}")
    return persona
