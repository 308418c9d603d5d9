"""Reads the personas of the simulated users from `seeds/personas.yaml`."""

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
"""Fields that the user may say, as first-person clauses."""


def read_personas(path: Path = FILE) -> list[Persona]:
    """Every persona of the file, in order.

    Raises:
        ConfigError: the file is not a list of mappings with the fields of `Persona`, or a field is not valid.
    """
    try:
        entries = strict_yaml.load(path.read_text(encoding="utf-8"))
        if not isinstance(entries, list) or not entries:
            raise ValueError("expected a non-empty list of personas")
        return [_persona(number, fields) for number, fields in enumerate(entries, start=1)]
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{path} is not a valid personas file: {error}") from error


def _persona(number: int, fields: Any) -> Persona:
    """The persona of one entry.

    Raises:
        ValueError: a field is missing, unknown or not valid.
    """
    if not isinstance(fields, dict):
        raise ValueError(f"entry {number} is not a valid persona: {fields!r} is not a mapping")
    try:
        persona = Persona(**fields)
    except TypeError as error:
        raise ValueError(f"entry {number} is not a valid persona: {error}") from error
    for name, text in asdict(persona).items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"entry {number} has {name} {text!r}; it must be a non-empty text")
        if name in CLAUSES and not text.startswith(("I ", "I'")):
            raise ValueError(f"entry {number} has {name} {text!r}; it must be a clause that begins with I")
    if persona.level not in LEVELS:
        raise ValueError(f"entry {number} has level {persona.level!r}; it must be one of {', '.join(LEVELS)}")
    return persona
