"""The README of a trained model folder: what it was made from, with which settings, and what was measured meanwhile."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import yaml

from eval.config import dump
from train.overview import overview
from train.sft_parts import Parts

LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets")


def model_card(parts: Parts, summary: dict[str, Any]) -> str:
    """Markdown with the front matter of the Hub."""
    from eval import table

    config = parts.config
    front = {"library_name": "transformers", "pipeline_tag": "text-generation", "tags": ["sft", "userturn"]}
    if not parts.is_local:
        front["base_model"] = config.model
    data = "\n".join(f"- `{path}`, sha256 `{sha}`" for path, sha in parts.data_files.items())
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES)
    turns = {"user": "the user's turns", "assistant": "the assistant's turns", "both": "the turns of both sides"}
    sections = [
        f"---\n{yaml.safe_dump(front, sort_keys=False)}---",
        f"# {config.name}",
        f"`{summary['base']}` fine-tuned on {turns[config.train_on]} of conversations, "
        f"{'all weights' if config.lora is None else 'low-rank adapters, merged'}; {summary['steps']} steps.",
        f"Loss of the first steps {summary['loss']['first']:.4f}, of the last {summary['loss']['last']:.4f}.",
        _probe(summary["probe"]),
        f"## Data\n\n{data}",
        table.to_markdown([overview(parts)]),
        f"## Settings\n\n```yaml\n{dump(config)}```",
        f"Made with {versions}.",
    ]
    return "\n\n".join(section.strip() for section in sections if section) + "\n"


def _probe(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    lines = [f"- step {step}: {said}" for step, said in found["steps"].items()]
    stopped = [f"\nTraining was stopped: {found['stopped']}."] if found["stopped"] else []
    return "\n".join(["## Held-out probe\n", *lines, *stopped])
