"""Conversations from any JSONL file, one `{"messages": [{"role": ..., "content": ...}, ...]}` per line.

Each is truncated after its last assistant response. The licence of the file is for the user to check.
"""

from __future__ import annotations

from pathlib import Path

from eval.data_files import read_file
from eval.dialogue import Dialogue, Message, content_hash
from eval.sources import choose, read_messages

LICENCE = "unknown"
ORIGIN = "a file of the user's"


def load(limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None, file: Path) -> list[Dialogue]:
    """The conversations of `file`, a path as given or relative to `data_dir`.

    `limit` keeps the first of a shuffle seeded with `seed`. Exact duplicates of earlier lines are dropped.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a malformed line, or a conversation without an assistant response.
    """
    path = file if file.is_file() or data_dir is None else data_dir / file
    if not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    dialogues: dict[str, Dialogue] = {}
    for place, row in read_file(path, {"messages": list}):
        messages = _up_to_last_response(place, read_messages(place, row["messages"]))
        dialogue = Dialogue("jsonl", messages, meta={"file": path.name})
        dialogues.setdefault(content_hash([[m.role, m.text] for m in messages]), dialogue)
    return choose(list(dialogues.values()), limit, seed)


def _up_to_last_response(place: str, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    last = max((turn for turn, message in enumerate(messages) if message.role == "assistant"), default=None)
    if last is None:
        raise ValueError(f"{place}: no assistant message; a seed must end in one")
    return messages[: last + 1]
