"""What a sweep will take, before it starts: missing rows, tokens and dollars at most, and the time of those tokens.

Speed comes from the finished cells of the sweep; until there is one, from a short measurement with the real engine.
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
    """What one cell lacks; tokens are an upper bound, as no turn is longer than its limit."""

    cell: Cell
    rows: int
    missing: int
    tokens: int
    dollars: float | None
    """What its judge costs at most; None where that has no price."""


def estimate(cells: Sequence[Cell], opened: ResourceCache) -> Table:
    """What the cells lack, how long it takes and what it costs at most.

    Raises:
        ConfigError: data, model or judge of a cell can't be opened, or its folder has a line that is no row.
    """
    works: list[Work] = []
    speeds: dict[str, float | None] = {}
    for model, own in by_model(cells).items():
        lacking = [
            work_of(cell, opened.tasks(cell.config).dialogues, opened.judge(cell.config).cost_bound) for cell in own
        ]
        speeds[model] = measured_speed([cell.config.run_dir for cell in own])
        if speeds[model] is None and any(work.tokens for work in lacking):
            first = own[0]
            speeds[model] = sampled_speed(opened.speaker(first.config), opened.tasks(first.config).dialogues, first)
        works += lacking
    return estimate_table(works, speeds)


def by_model(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """The cells of each model, in order."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.model, []).append(cell)
    return groups


def work_of(cell: Cell, dialogues: Sequence[Dialogue], cost_bound: float | None) -> Work:
    """What the folder of `cell` lacks of `dialogues`; a failure that may pass is tried again.

    Args:
        cost_bound: `Judge.cost_bound` of its judge.

    Raises:
        ConfigError: the folder has a line that is no row.
    """
    dialogues = list(filter(asks, dialogues)) if cell.cross else dialogues
    done = _done(cell.config.run_dir / "rows.jsonl")
    missing = [dialogue for dialogue in dialogues if dialogue.id not in done]
    usable = [dialogue for dialogue in missing if dialogue.failure is None]
    tokens = sum(_tokens(cell, dialogue) for dialogue in usable)
    dollars = None if cost_bound is None else len(usable) * cost_bound
    return Work(cell, len(dialogues), len(missing), tokens, dollars)


def _tokens(cell: Cell, dialogue: Dialogue) -> int:
    """The most tokens that are generated for a dialogue."""
    config = cell.config
    if dialogue.real_user:
        return 0
    answers = config.answers_from is None and dialogue.messages[-1].role == "user"
    return config.sampling.max_tokens + (config.answers.max_tokens if answers else 0)


def _done(path: Path) -> set[str]:
    """Ids of the rows with a result, or with a failure that would come again."""
    if not path.is_file():
        return set()
    try:
        return {row.id for row in read_rows(path) if row.failure is None or row.failure.permanent}
    except ValueError as error:
        raise ConfigError(str(error)) from error


def measured_speed(folders: Sequence[Path]) -> float | None:
    """Generated tokens per second over the sessions of the run folders, None if none of them has generated any."""
    tokens = seconds = 0.0
    for path in (folder / "manifest.json" for folder in folders):
        for session in json.loads(path.read_text(encoding="utf-8"))["sessions"] if path.is_file() else []:
            spoken, spent = session.get("tokens", {}), session.get("seconds", {})
            tokens += spoken.get("assistant", 0) + spoken.get("user", 0)
            seconds += spent.get("assistant_turns", 0) + spent.get("user_turns", 0)
    return tokens / seconds if tokens and seconds else None


def sampled_speed(speaker: Speaker, dialogues: Sequence[Dialogue], cell: Cell) -> float | None:
    """Tokens per second of a few short turns; loading the weights is not counted. None if no token is generated.

    Answers are spoken to questions of every task; where there are none, user turns.
    """
    usable = [dialogue for dialogue in dialogues if dialogue.failure is None and not dialogue.real_user]
    questions = [dialogue for dialogue in usable if dialogue.messages[-1].role == "user"]
    role: Literal["assistant", "user"] = "assistant" if questions else "user"
    sampling = cell.config.answers if questions else cell.config.sampling
    short = sampling.model_copy(update={"max_tokens": min(SAMPLE_TOKENS, sampling.max_tokens)})
    rows = _spread(questions or usable)
    for _ in speaker.speak(rows[:1], role, short):  # reads the weights
        pass
    before, start = speaker.tokens[role], time.monotonic()
    for _ in speaker.speak(rows, role, short):
        pass
    tokens, seconds = speaker.tokens[role] - before, time.monotonic() - start
    return tokens / seconds if tokens and seconds else None


def _spread(dialogues: Sequence[Dialogue]) -> list[Dialogue]:
    """`SAMPLE_ROWS` of the dialogues at even distances, or all."""
    count = min(SAMPLE_ROWS, len(dialogues))
    return [dialogues[place * len(dialogues) // count] for place in range(count)]


def estimate_table(works: Sequence[Work], speeds: dict[str, float | None]) -> Table:
    """A line per cell and their sum. `speeds` has the tokens per second of each model, None where not known."""
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
    """The sum, None if a part of it is not known."""
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
