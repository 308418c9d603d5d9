"""CoVal, prompts on contested values with four responses each: the response comes from the data (held-out setting).

Source: https://huggingface.co/datasets/openai/coval (the file is pinned below by its hash), CC-BY-4.0. Split: 1,078
prompts, 98 of them with earlier turns. Context: `prompt.messages`, whose role "developer" is the system, then one of
the four responses. No reference: only the user turn that follows is measured. Must never be trained on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from eval.dialogue import Dialogue, Failure, Message, content_hash
from eval.grading.ranking import best_ranked
from eval.real_user import real_user_turn
from eval.sources import Source, choose, read_messages, read_prompt, read_unique

VERSION = 1
"""Version of prompt, selection and grader; a run folder of another version is rejected."""

SOURCE = Source(
    url="https://huggingface.co/datasets/openai/coval",
    licence="CC-BY-4.0",
    local=("coval/comparisons.jsonl",),
    hub_id="openai/coval",
    hub_file="comparisons.jsonl",
    sha256="e107b7d233baedbc8c1b9c3f9aef9739592b93f6f202b9e4503b9cd3ca00d759",
)
COLUMNS = {"prompt_id": str, "prompt": dict, "responses": list, "metadata": dict}
Response = Literal["hash", "A", "B", "C", "D", "best"]


def load(
    limit: int | None = None,
    seed: int = 0,
    *,
    data_dir: Path | None = None,
    response: Response = "hash",
    contexts: Literal["all", "multi_turn"] = "all",
    control: bool = False,
) -> list[Dialogue]:
    """The conversations, each ending in the chosen response; a row without it becomes a skipped dialogue.

    `response`: a letter; "hash", which picks among the row's responses by the hash of the prompt's id; or "best", the
    one with the lowest mean rank in the annotators' rankings for the world. `contexts`: all prompts, or those with more
    than one user turn. `control` adds the real last user turn of each chosen prompt with more than one, as task
    "coval_real_user". `limit` counts prompts, and keeps the first of a shuffle seeded with `seed`.

    Raises:
        FileNotFoundError, ValueError: see `eval.sources.read_unique`; a malformed conversation.
    """
    rows = []
    for place, row in read_unique(SOURCE, COLUMNS, "prompt_id", data_dir=data_dir):
        prompt = _prompt(place, row["prompt"])
        if contexts == "all" or sum(message.role == "user" for message in prompt) > 1:
            real = real_user_turn("coval", prompt, {"prompt_id": row["prompt_id"]}) if control else []
            rows.append([_dialogue(place, row, prompt, response), *real])
    return [dialogue for row in choose(rows, limit, seed) for dialogue in row]


def check(dialogue: Dialogue) -> bool | None:
    """Always None: a conversation has no reference answer."""
    return None


def _prompt(place: str, prompt: dict[str, Any]) -> tuple[Message, ...]:
    messages = prompt.get("messages")
    renamed = [
        {**item, "role": "system"} if isinstance(item, dict) and item.get("role") == "developer" else item
        for item in (messages if isinstance(messages, list) else [])
    ]
    return read_prompt(place, renamed)


def _dialogue(place: str, row: dict[str, Any], prompt: tuple[Message, ...], response: Response) -> Dialogue:
    responses = _responses(place, row["responses"])
    letters = sorted(responses)
    letter: str | None = response
    if response == "hash":
        letter = letters[int(content_hash(row["prompt_id"]), 16) % len(letters)] if letters else None
    elif response == "best":
        letter = best_ranked(_world_rankings(place, row["metadata"]), letters)
    meta = {"prompt_id": row["prompt_id"], "response": letter}
    if letter not in responses:
        failure = Failure("load", "no_response", f"{place} has no response {response!r}, but {letters}")
        return Dialogue("coval", prompt, meta=meta, failure=failure)
    return Dialogue("coval", (*prompt, Message("assistant", responses[letter])), meta=meta)


def _responses(place: str, responses: list[Any]) -> dict[str, str]:
    """The text of each non-empty response, by its letter."""
    texts: dict[str, str] = {}
    for number, response in enumerate(responses):
        where = f"{place}, response {number}"
        letter = response.get("response_index") if isinstance(response, dict) else None
        if not isinstance(letter, str) or letter in texts:
            raise ValueError(f"{where}: response_index {letter!r} is not a letter, or repeated; use the official file")
        message = read_messages(where, response.get("messages"))[0]
        if message.role != "assistant":
            raise ValueError(f"{where}: its message has the role {message.role}; use the official file")
        texts[letter] = message.text.strip()
    return {letter: text for letter, text in texts.items() if text}


def _world_rankings(place: str, metadata: dict[str, Any]) -> list[str]:
    """Every annotator's rankings for the world, such as "A>B>C=D"."""
    try:
        blocks = [assessment["ranking_blocks"]["world"] for assessment in metadata["assessments"]]
        return [str(block["ranking"]) for world in blocks for block in world]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{place}: metadata has no rankings for the world ({error!r})") from None
