"""Openings written for this project: a user's query and an assistant's response on everyday topics (Apache-2.0).

Read from `written.jsonl` in this folder, one per line: `topic`, and `messages` with role and content.
"""

from __future__ import annotations

from pathlib import Path

from eval.data_files import read_file
from eval.dialogue import Dialogue
from eval.sources import choose, read_messages

LICENCE = "Apache-2.0"
ORIGIN = "written for this project"
CORPUS = Path(__file__).with_suffix(".jsonl")


def load(
    limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None, topics: list[str] | None = None
) -> list[Dialogue]:
    """All openings, or those of `topics`; `limit` keeps the first of a shuffle seeded with `seed`.

    `data_dir` is not used.

    Raises:
        ValueError: a topic is not in the corpus, or a line is malformed.
    """
    rows = list(read_file(CORPUS, {"topic": str, "messages": list}))
    known = {row["topic"] for _, row in rows}
    if unknown := sorted(set(topics or ()) - known):
        raise ValueError(f"no topic {unknown[0]!r}; {CORPUS.name} has {', '.join(sorted(known))}")
    dialogues = [
        Dialogue("written", read_messages(place, row["messages"]), meta={"topic": row["topic"], "row": number})
        for number, (place, row) in enumerate(rows)
        if topics is None or row["topic"] in topics
    ]
    return choose(dialogues, limit, seed)
