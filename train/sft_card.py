"""The model card of a fine-tuning run."""

from __future__ import annotations

from typing import Any

from train.model_card import card, probe_section
from train.sft_overview import overview
from train.sft_parts import SftParts


def sft_card(parts: SftParts, summary: dict[str, Any]) -> str:
    """Markdown with base model, loss, held-out probe and training data."""
    from eval import table_formats

    config = parts.config
    data = "\n".join(f"- `{path}`, sha256 `{sha}`" for path, sha in parts.data_files.items())
    turns = {"user": "the user's turns", "assistant": "the assistant's turns", "both": "the turns of both sides"}
    sections = [
        f"`{summary['base']}` fine-tuned on {turns[config.train_on]} of conversations, "
        f"{'all weights' if config.lora is None else 'low-rank adapters, merged'}; {summary['steps']} steps.",
        f"Loss of the first steps {summary['loss']['first']:.4f}, of the last {summary['loss']['last']:.4f}.",
        probe_section(summary["probe"]),
        f"## Data\n\n{data}",
        table_formats.to_markdown([overview(parts)]),
    ]
    return card(config, config.name, "sft", None if parts.is_local else config.model, sections)
