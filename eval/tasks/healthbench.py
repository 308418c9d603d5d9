"""HealthBench, health conversations with a physician's response: the response comes from the data (held-out setting).

Source: https://huggingface.co/datasets/openai/healthbench (arXiv 2505.08775; revision below), MIT. Split: 5,000 rows in
one file. Context: `prompt`, which ends in a user turn, then `ideal_completion`. No reference: only the user turn that
follows is measured. Never to be trained on: each row's canary is kept in `meta` for the guards of training.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eval.dialogue import Dialogue, Failure, Message
from eval.sources import Source, choose, read_messages, read_rows

SOURCE = Source(
    url="https://huggingface.co/datasets/openai/healthbench",
    licence="MIT",
    local=(
        "healthbench/2025-05-07-06-14-12_oss_eval.jsonl",
        "healthbench/healthbench_subset_*.jsonl",
        "healthbench/consensus_*.jsonl",
        "healthbench/hard_*.jsonl",
    ),
    hub_id="openai/healthbench",
    revision="40ee1968852fc57f625934251ac22be47077a8fb",
    hub_file="2025-05-07-06-14-12_oss_eval.jsonl",
)
COLUMNS = {
    "prompt": list,
    "prompt_id": str,
    "example_tags": list,
    "ideal_completions_data": dict | None,
    "canary": str,
}


def load(limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None) -> list[Dialogue]:
    """The conversations, each ending in the physician's response; a row without one is a skipped dialogue.

    The full file is preferred; without it, all files of the first other pattern in `SOURCE.local` with a match.
    `limit` counts skipped rows too, and takes the first of a shuffle seeded with `seed`.

    Raises:
        FileNotFoundError, ValueError: see `eval.sources.read_rows`; a malformed conversation; a repeated `prompt_id`.
    """
    places: dict[str, str] = {}
    dialogues = []
    for place, row in read_rows(SOURCE, COLUMNS, data_dir=data_dir):
        first = places.setdefault(row["prompt_id"], place)
        if first != place:
            raise ValueError(f"{place}: prompt_id {row['prompt_id']} is already at {first}; remove one of the two")
        dialogues.append(_dialogue(place, row))
    return choose(dialogues, limit, seed)


def check(dialogue: Dialogue) -> bool | None:
    """None: a conversation has no reference answer."""
    return None


def _dialogue(place: str, row: dict[str, Any]) -> Dialogue:
    messages = read_messages(place, row["prompt"])
    if messages[-1].role != "user":
        raise ValueError(f"{place}: the prompt ends in a {messages[-1].role} message, not in a user message")
    meta = {"prompt_id": row["prompt_id"], "tags": row["example_tags"], "canary": row["canary"]}
    response = (row["ideal_completions_data"] or {}).get("ideal_completion") or ""
    if not isinstance(response, str):
        raise ValueError(f"{place}: ideal_completion is {type(response).__name__}, not a string")
    if not response.strip():
        failure = Failure("load", "no_ideal_completion", f"{place} has no physician's response")
        return Dialogue("healthbench", messages, meta=meta, failure=failure)
    return Dialogue("healthbench", (*messages, Message("assistant", response.strip())), meta=meta)
