"""Estimate of a sweep before it starts: missing rows, and upper bounds of tokens, time and dollars.

Speed comes from the finished cells of the sweep or, if there is none, from a short measurement with the real engine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from eval.config import ConfigError
from eval.dialogue import Dialogue
from eval.resources import ResourceCache
from eval.rows import read_rows
from eval.speaker import Speaker
from eval.stored_answers import asks
from eval.sweep_config import Cell
from eval.table import Cell as TableCell
from eval.table import Table

SAMPLE_ROWS, SAMPLE_TOKENS = 16, 16


@dataclass(frozen=True)
class Work:
    """The remaining work of one cell; tokens are an upper bound, assuming that every turn reaches its limit."""

    cell: Cell
    rows: int
    missing: int
    tokens: int
    dollars: float | None
    """Upper bound of the cost of its judge; None if that has no price."""


def estimate(cells: Sequence[Cell], opened: ResourceCache) -> Table:
    """The remaining rows of the cells, with upper bounds of time and cost.

    Raises:
        ConfigError: data, model or judge of a cell can't be opened, or its folder has a malformed row.
    """
    works: list[Work] = []
    speeds: dict[str, float | None] = {}
    for model, own in by_model(cells).items():
        of_model = [
            work_of(cell, opened.tasks(cell.config).dialogues, opened.judge(cell.config).cost_bound) for cell in own
        ]
        speeds[model] = measured_speed([cell.config.run_dir for cell in own])
        if speeds[model] is None and any(work.tokens for work in of_model):
            first = own[0]
            speeds[model] = sampled_speed(opened.speaker(first.config), opened.tasks(first.config).dialogues, first)
        works += of_model
    return estimate_table(works, speeds)


def by_model(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """The cells of each model, in order."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.model, []).append(cell)
    return groups


def work_of(cell: Cell, dialogues: Sequence[Dialogue], cost_bound: float | None) -> Work:
    """The `dialogues` that the folder of `cell` lacks, including failures that are retried.

    Args:
        cost_bound: `Judge.cost_bound` of its judge.

    Raises:
        ConfigError: the folder has a malformed row.
    """
    dialogues = list(filter(asks, dialogues)) if cell.cross else dialogues
    done = _finished_ids(cell.config.run_dir / "rows.jsonl")
    missing = [dialogue for dialogue in dialogues if dialogue.id not in done]
    usable = [dialogue for dialogue in missing if dialogue.failure is None]
    tokens = sum(_tokens(cell, dialogue) for dialogue in usable)
    dollars = None if cost_bound is None else len(usable) * cost_bound
    return Work(cell, len(dialogues), len(missing), tokens, dollars)


def _tokens(cell: Cell, dialogue: Dialogue) -> int:
    """The maximum number of tokens generated for a dialogue."""
    config = cell.config
    if dialogue.real_user:
        return 0
    answers = config.answers_from is None and dialogue.messages[-1].role == "user"
    return config.sampling.max_tokens + (config.answers.max_tokens if answers else 0)


def _finished_ids(path: Path) -> set[str]:
    """Ids of the rows with a result or a permanent failure."""
    if not path.is_file():
        return set()
    try:
        return {row.id for row in read_rows(path) if row.failure is None or row.failure.permanent}
    except ValueError as error:
        raise ConfigError(str(error)) from error


def measured_speed(folders: Sequence[Path]) -> float | None:
    """Generated tokens per second over the sessions of the run folders; None if none has generated any."""
    tokens = seconds = 0.0
    for path in (folder / "manifest.json" for folder in folders):
        for session in json.loads(path.read_text(encoding="utf-8"))["sessions"] if path.is_file() else []:
            generated, spent = session.get("tokens", {}), session.get("seconds", {})
            tokens += generated.get("assistant", 0) + generated.get("user", 0)
            seconds += spent.get("assistant_turns", 0) + spent.get("user_turns", 0)
    return tokens / seconds if tokens and seconds else None


def sampled_speed(speaker: Speaker, dialogues: Sequence[Dialogue], cell: Cell) -> float | None:
    """Tokens per second of a few short turns, without the time to load the weights; None if no token is generated.

    It generates answers to questions of every task or, if there are none, user turns.
    """
    usable = [dialogue for dialogue in dialogues if dialogue.failure is None and not dialogue.real_user]
    questions = [dialogue for dialogue in usable if dialogue.messages[-1].role == "user"]
    role: Literal["assistant", "user"] = "assistant" if questions else "user"
    sampling = cell.config.answers if questions else cell.config.sampling
    short = sampling.model_copy(update={"max_tokens": min(SAMPLE_TOKENS, sampling.max_tokens)})
    rows = _spread(questions or usable)
    for _ in speaker.speak(rows[:1], role, short):  # loads the weights
        pass
    before, start = speaker.tokens[role], time.monotonic()
    for _ in speaker.speak(rows, role, short):
        pass
    tokens, seconds = speaker.tokens[role] - before, time.monotonic() - start
    return tokens / seconds if tokens and seconds else None


def _spread(dialogues: Sequence[Dialogue]) -> list[Dialogue]:
    """At most `SAMPLE_ROWS` of the dialogues, evenly spaced."""
    count = min(SAMPLE_ROWS, len(dialogues))
    return [dialogues[place * len(dialogues) // count] for place in range(count)]


def estimate_table(works: Sequence[Work], speeds: dict[str, float | None]) -> Table:
    """A line per cell and their sum. `speeds`: tokens per second of each model, None if unknown."""
    seconds = [_seconds(work, speeds[work.cell.model]) for work in works]
    lines = [
        _line(work.cell.name, work.rows, work.missing, work.tokens, spent, work.dollars)
        for work, spent in zip(works, seconds, strict=True)
    ]
    rows, missing, tokens = (sum(getattr(w, name) for w in works) for name in ("rows", "missing", "tokens"))
    lines.append(_line("all", rows, missing, tokens, _sum(seconds), _sum(work.dollars for work in works)))
    notes = [
        f"{model}: {'unknown speed' if speed is None else f'{speed:.0f} tokens a second'}"
        for model, speed in speeds.items()
    ]
    columns = ("cell", "rows", "missing", "tokens at most", "time at most", "judge $ at most")
    return Table("Estimate", columns, tuple(lines), tuple(notes))


def _seconds(work: Work, speed: float | None) -> float | None:
    if not work.tokens:
        return 0.0
    return None if speed is None else work.tokens / speed


def _sum(known: Iterable[float | None]) -> float | None:
    """The sum; None if a part of it is unknown."""
    values = list(known)
    return None if None in values else sum(value for value in values if value is not None)


def _line(
    name: str, rows: int, missing: int, tokens: int, seconds: float | None, dollars: float | None
) -> tuple[TableCell, ...]:
    counts = (TableCell.number(count) for count in (rows, missing, tokens))
    time_cell = cost_cell = TableCell("unknown")
    if seconds is not None:
        time_cell = TableCell(str(timedelta(seconds=round(seconds))), value=round(seconds, 1))
    if dollars is not None:
        cost_cell = TableCell.number(dollars, digits=2)
    return TableCell(name), *counts, time_cell, cost_cell
