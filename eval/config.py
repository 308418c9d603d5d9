"""Strict configuration: one YAML per run, any field on the command line, an unknown key is an error that lists the known ones."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ConfigError(ValueError):
    """A setting that cannot work; the message says which, where it was set, and what to do."""


class Config(BaseModel):
    """Base of every run's configuration: frozen, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")
