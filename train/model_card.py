"""The README of a trained model folder, as the Hub reads it: front matter, sections, settings and versions."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from typing import Any

import yaml

from eval.config import Config, dump

LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets")


def card(config: Config, name: str, tag: str, base: str | None, sections: Sequence[str]) -> str:
    """Markdown with the front matter of the Hub; settings and versions come last.

    Args:
        tag: the method, as the Hub lists models by it.
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


def probe_found(found: dict[str, Any] | None) -> str:
    """What the held-out probe of a run found, as a section; "" without one."""
    if found is None:
        return ""
    lines = [f"- step {step}: {said}" for step, said in found["steps"].items()]
    stopped = [f"\nTraining was stopped: {found['stopped']}."] if found["stopped"] else []
    return "\n".join(["## Held-out probe\n", *lines, *stopped])
