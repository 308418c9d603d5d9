"""Openings written for this project: a user's query and an assistant's response on everyday topics (Apache-2.0).

`written.jsonl` beside this file has one a line: `topic`, and `messages` as role and content. No network, no data files.
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
    """The openings, or those of `topics`; `limit` takes the first of a shuffle seeded with `seed`.

    `data_dir` is not read: the file is here.

    Raises:
        ValueError: a topic that the corpus does not have; a malformed line.
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
