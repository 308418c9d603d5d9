"""The people who speak as the user, from `seeds/personas.yaml`. It knows no plan."""

from __future__ import annotations

from pathlib import Path

import yaml

from data_gen.plan import Persona
from eval.config import ConfigError

FILE = Path(__file__).parent / "seeds" / "personas.yaml"


def read_personas(path: Path = FILE) -> list[Persona]:
    """Every persona of the file, in order.

    Raises:
        ConfigError: the file is no list of mappings with the fields of `Persona`.
    """
    try:
        return [Persona(**fields) for fields in yaml.safe_load(path.read_text(encoding="utf-8"))]
    except (OSError, yaml.YAMLError, TypeError) as error:
        raise ConfigError(f"{path} holds no personas: {error}") from error
