"""The README of a trained model folder in the Hub's format: front matter, sections, settings and versions."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from typing import Any

import yaml

from eval.config import Config, dump

LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets")


def card(config: Config, name: str, tag: str, base: str | None, sections: Sequence[str]) -> str:
    """Markdown with the Hub's front matter; settings and versions come last.

    Args:
        tag: the method, by which the Hub lists models.
        base: Hub id of the base model, if it has one.
    """
    front: dict[str, Any] = {
        "library_name": "transformers",
        "pipeline_tag": "text-generation",
        "tags": [tag, "userturn"],
    }
    if base is not None:
        front["base_model"] = base
    versions = ", ".join(f"{library} {importlib.metadata.version(library)}" for library in LIBRARIES)
    settings = f"## Settings\n\n```yaml\n{dump(config)}```"
    start = [f"---\n{yaml.safe_dump(front, sort_keys=False)}---", f"# {name}"]
    all_sections = [*start, *sections, settings, f"Made with {versions}."]
    return "\n\n".join(section.strip() for section in all_sections if section) + "\n"


def probe_section(probe: dict[str, Any] | None) -> str:
    """The results of a run's held-out probe as a section; "" for a run without one."""
    if probe is None:
        return ""
    lines = [f"- step {step}: {results}" for step, results in probe["steps"].items()]
    stopped = [f"\nTraining was stopped: {probe['stopped']}."] if probe["stopped"] else []
    return "\n".join(["## Held-out probe\n", *lines, *stopped])
