"""The README of a trained model folder: what it was made from, with which settings, and what was measured meanwhile."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from typing import Any

import yaml

from eval.config import Config, dump
from train.overview import overview
from train.sft_parts import Parts

LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets")


def model_card(parts: Parts, summary: dict[str, Any]) -> str:
    """The card of a fine-tuning run."""
    from eval import table_formats

    config = parts.config
    data = "\n".join(f"- `{path}`, sha256 `{sha}`" for path, sha in parts.data_files.items())
    turns = {"user": "the user's turns", "assistant": "the assistant's turns", "both": "the turns of both sides"}
    sections = [
        f"`{summary['base']}` fine-tuned on {turns[config.train_on]} of conversations, "
        f"{'all weights' if config.lora is None else 'low-rank adapters, merged'}; {summary['steps']} steps.",
        f"Loss of the first steps {summary['loss']['first']:.4f}, of the last {summary['loss']['last']:.4f}.",
        probe_found(summary["probe"]),
        f"## Data\n\n{data}",
        table_formats.to_markdown([overview(parts)]),
    ]
    return card(config, config.name, "sft", None if parts.is_local else config.model, sections)


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
