"""What a sweep will take, before it starts: missing rows, tokens at most, and the time of those tokens.

Speed comes from the finished cells of the sweep; until there is one, from a short measurement with the real engine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from eval.dialogue import Dialogue
from eval.speaker import Speaker
from eval.sweep_config import Cell
from eval.table import Cell as TableCell
from eval.table import Table

SAMPLE_ROWS, SAMPLE_TOKENS = 16, 16


@dataclass(frozen=True)
class Work:
    """The work of one cell; tokens are upper bounds, as no turn is longer than its limit."""

    cell: Cell
    rows: int
    missing: int
    tokens: int


def work_of(cell: Cell, dialogues: Sequence[Dialogue]) -> Work:
    """What the folder of `cell` lacks of `dialogues`."""
    config = cell.config
    missing = max(0, len(dialogues) - _lines(config.run_dir / "rows.jsonl"))
    spoken = [dialogue for dialogue in dialogues if not dialogue.real_user]
    questions = 0 if config.answers_from else sum(dialogue.messages[-1].role == "user" for dialogue in spoken)
    all_tokens = questions * config.answers.max_tokens + len(spoken) * config.sampling.max_tokens
    return Work(cell, len(dialogues), missing, round(all_tokens * missing / len(dialogues)) if dialogues else 0)


def measured_speed(folders: Sequence[Path]) -> float | None:
    """Generated tokens per second over the sessions of the run folders, None if none of them has generated any."""
    tokens = seconds = 0.0
    for path in (folder / "manifest.json" for folder in folders):
        for session in json.loads(path.read_text(encoding="utf-8"))["sessions"] if path.is_file() else []:
            spoken, spent = session.get("tokens", {}), session.get("seconds", {})
            tokens += spoken.get("assistant", 0) + spoken.get("user", 0)
            seconds += spent.get("assistant_turns", 0) + spent.get("user_turns", 0)
    return tokens / seconds if tokens and seconds else None


def sampled_speed(speaker: Speaker, dialogues: Sequence[Dialogue], cell: Cell) -> float:
    """Tokens per second of a few short user turns; loading the weights is not counted."""
    sampling = cell.config.sampling.model_copy(update={"max_tokens": SAMPLE_TOKENS})
    next(speaker.speak(dialogues[:1], "user", sampling), None)
    before, start = speaker.tokens["user"], time.monotonic()
    for _ in speaker.speak(dialogues[:SAMPLE_ROWS], "user", sampling):
        pass
    return (speaker.tokens["user"] - before) / (time.monotonic() - start)


def estimate_table(works: Sequence[Work], speeds: dict[str, float]) -> Table:
    """A line per cell and their sum. `speeds` has the tokens per second of each model."""
    lines, total = [], 0.0
    for work in works:
        seconds = work.tokens / speeds[work.cell.model] if work.tokens else 0.0
        total += seconds
        lines.append(_line(work.cell.name, work.rows, work.missing, work.tokens, seconds))
    rows, missing, tokens = (
        sum(counts) for counts in zip(*((w.rows, w.missing, w.tokens) for w in works), strict=True)
    )
    lines.append(_line("all", rows, missing, tokens, total))
    notes = [f"{model}: {speed:.0f} tokens a second" for model, speed in speeds.items()]
    columns = ("cell", "rows", "missing", "tokens at most", "time at most")
    return Table("Estimate", columns, tuple(lines), tuple(notes))


def _line(name: str, rows: int, missing: int, tokens: int, seconds: float) -> tuple[TableCell, ...]:
    counts = (TableCell.number(count) for count in (rows, missing, tokens))
    return TableCell(name), *counts, TableCell(str(timedelta(seconds=round(seconds))), value=round(seconds, 1))


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.is_file() else 0
