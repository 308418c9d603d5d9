"""HealthBench, health conversations with a physician's response: the response comes from the data (held-out setting).

Source: https://huggingface.co/datasets/openai/healthbench (arXiv 2505.08775; revision below), MIT. Split: 5,000 rows in
one file. Context: `prompt`, which ends in a user turn, then `ideal_completion`, or one of four models' responses. No
reference: only the user turn that follows is measured. Must never be trained on: each row's canary is kept in `meta`,
where training checks for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from eval.dialogue import Dialogue, Failure, Message, content_hash
from eval.real_user import real_user_turn
from eval.sources import Source, choose, read_prompt, read_unique

VERSION = 1
"""Version of prompt, selection and grader; a run folder of another version is rejected."""

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


def load(
    limit: int | None = None,
    seed: int = 0,
    *,
    data_dir: Path | None = None,
    response: Literal["ideal", "reference"] = "ideal",
    contexts: Literal["all", "multi_turn", "single_turn"] = "all",
    control: bool = False,
) -> list[Dialogue]:
    """The conversations, each ending in the chosen response; a row without it becomes a skipped dialogue.

    `response`: the physician's, or one of the four models' responses, picked by the hash of `prompt_id`. `contexts`:
    prompts of any length, of several messages, or of one. `control` adds the real last user turn of each chosen prompt
    of several messages, as task "healthbench_real_user". The full file is preferred; without it, all files that match
    the first other pattern in `SOURCE.local` with a match. `limit` counts rows, including skipped ones, and keeps the
    first of a shuffle seeded with `seed`.

    Raises:
        FileNotFoundError, ValueError: see `eval.sources.read_unique`; a malformed conversation.
    """
    rows = []
    for place, row in read_unique(SOURCE, COLUMNS, "prompt_id", data_dir=data_dir):
        prompt = read_prompt(place, row["prompt"])
        if contexts == "all" or (contexts == "multi_turn") == (len(prompt) > 1):
            real = real_user_turn("healthbench", prompt, _meta(row)) if control else []
            rows.append([_dialogue(place, row, prompt, response), *real])
    return [dialogue for row in choose(rows, limit, seed) for dialogue in row]


def check(dialogue: Dialogue) -> bool | None:
    """Always None: a conversation has no reference answer."""
    return None


def _meta(row: dict[str, Any]) -> dict[str, Any]:
    return {"prompt_id": row["prompt_id"], "tags": row["example_tags"], "canary": row["canary"]}


def _dialogue(place: str, row: dict[str, Any], prompt: tuple[Message, ...], response: str) -> Dialogue:
    data = row["ideal_completions_data"] or {}
    meta = _meta(row)
    if response == "ideal":
        text = _text(place, "ideal_completion", data.get("ideal_completion"))
    else:
        number, text = _reference(place, row["prompt_id"], data.get("ideal_completions_ref_completions") or [])
        meta["reference_response"] = number
    if not text:
        failure = Failure("load", f"no_{response}_completion", f"{place} has no {response} response")
        return Dialogue("healthbench", prompt, meta=meta, failure=failure)
    return Dialogue("healthbench", (*prompt, Message("assistant", text)), meta=meta)


def _reference(place: str, prompt_id: str, completions: Any) -> tuple[int | None, str]:
    """0-based number and text of the completion picked by the hash among the non-empty ones; (None, "") if none is."""
    if not isinstance(completions, list):
        raise ValueError(f"{place}: ideal_completions_ref_completions is {type(completions).__name__}, not a list")
    texts = [_text(place, f"reference completion {number}", text) for number, text in enumerate(completions)]
    numbers = [number for number, text in enumerate(texts) if text]
    if not numbers:
        return None, ""
    number = numbers[int(content_hash(prompt_id), 16) % len(numbers)]
    return number, texts[number]


def _text(place: str, name: str, text: Any) -> str:
    if not isinstance(text, str | None):
        raise ValueError(f"{place}: {name} is {type(text).__name__}, not a string")
    return (text or "").strip()
