"""Styles: ways in which a user collaborates, one YAML each in `styles/`, read by the planner and the teachers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from data_gen.occasion import OCCASIONS
from eval import strict_yaml
from eval.config import ConfigError

FOLDER = Path(__file__).parent / "styles"


class Phrasings(BaseModel):
    """Templates of the scripted teacher: texts with `{slots}` and `[alternatives|of words]` (`data_gen/scripted/`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user: tuple[str, ...]
    assistant: tuple[str, ...]
    """Replies to such a user turn."""


class Style(BaseModel):
    """One way of speaking as the user, and of replying to it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    about: str = Field(description="what the user does, in one sentence")
    follows_up: bool = Field(description="whether the turn is a follow-up; if not, it can only end a conversation")
    suits: tuple[str, ...] = Field((), description="occasions it suits (`data_gen/occasion.py`)")
    needs_question: bool = Field(False, description="only used after a response that ends in a question")
    user: str = Field(description="instructions for a model that speaks as the user")
    assistant: str = Field(description="instructions for a model that replies")
    scripted: Phrasings

    @field_validator("suits")
    @classmethod
    def _suits_known_occasions(cls, suits: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := set(suits) - OCCASIONS.keys():
            raise ValueError(f"unknown occasion {', '.join(sorted(unknown))}; known are {', '.join(OCCASIONS)}")
        return suits


def style_names() -> list[str]:
    """The styles in `styles/`, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def read_styles(names: Iterable[str]) -> dict[str, Style]:
    """The named styles.

    Raises:
        ConfigError: there is no such style, or its file is not valid.
    """
    return {name: _read(name) for name in names}


def _read(name: str) -> Style:
    path = FOLDER / f"{name}.yaml"
    if name not in style_names():
        raise ConfigError(f"no style {name!r}; data_gen/styles has {', '.join(style_names())}")
    try:
        return Style(name=name, **strict_yaml.load(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, TypeError, ValidationError) as error:
        raise ConfigError(f"{path} is not a valid style: {error}") from error
