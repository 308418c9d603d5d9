"""The dialogues of the page: which of them it holds, and each as one line of JSON.

A browser can open some megabytes of text, not every run there may be, so a page has a limit; the rows it leaves out are
chosen by their ids alone, alike in every run, never by what was generated or judged.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from eval.dialogue import Dialogue, Message
from eval.gated_text import displayable
from eval.paper.headings import place
from eval.report_page.inert import json_for_html
from eval.runs import Run
from eval.summary import answer_of, setting_of, user_turn_of

MAX_TEXT = 50_000
"""Characters of one text that are shown."""


@dataclass(frozen=True)
class Limits:
    """What a page may hold of rows, a dialogue counting once per run, and of bytes of their JSON."""

    rows: int = 5_000
    bytes: int = 20_000_000


@dataclass(frozen=True)
class Choice:
    """The dialogues of a page; `ids` is None where they are all there."""

    ids: frozenset[str] | None
    shown: int
    """Dialogues on the page, each with a row a run that has it."""
    total: int
    gated: int
    """Dialogues whose text is withheld, of those on the page."""
    failures: tuple[tuple[int, str, str, str, int], ...]
    """Run number, task, stage, kind and count, over all rows."""


@dataclass
class _Size:
    task: str
    rows: int = 0
    bytes: int = 0
    gated: bool = False


def choose(runs: Sequence[Run], limits: Limits, allow_gated_text: bool) -> Choice:
    """Read every row once and choose the dialogues that fit: each task in turn gives the next by SHA-256 of its id.

    Memory grows with the number of dialogues, not with their text.

    Raises:
        ConfigError: a line of a run is no row.
    """
    sizes: dict[str, _Size] = {}
    failures: Counter[tuple[int, str, str, str]] = Counter()
    for number, run in enumerate(runs):
        for row in run.rows():
            size = sizes.setdefault(row.id, _Size(row.task))
            size.rows += 1
            size.bytes += len(encode(row, number, allow_gated_text).encode())
            size.gated |= bool(row.meta.get("gated")) and not allow_gated_text
            if row.failure:
                failures[number, row.task, row.failure.stage, row.failure.kind] += 1
    chosen = list(_fitting(sizes, limits))
    return Choice(
        ids=frozenset(chosen) if len(chosen) < len(sizes) else None,
        shown=len(chosen),
        total=len(sizes),
        gated=sum(sizes[id].gated for id in chosen),
        failures=tuple((*key, count) for key, count in sorted(failures.items(), key=_in_order)),
    )


def entries(runs: Sequence[Run], choice: Choice, allow_gated_text: bool) -> Iterator[str]:
    """The chosen rows, one line of JSON each, run by run."""
    for number, run in enumerate(runs):
        for row in run.rows():
            if choice.ids is None or row.id in choice.ids:
                yield encode(row, number, allow_gated_text)


def encode(row: Dialogue, run: int, allow_gated_text: bool) -> str:
    """One row as JSON that is inert inside HTML; which message is the answer and which the measured turn is told."""
    answer, turn = answer_of(row), user_turn_of(row)
    setting, state, gated = setting_of(row), row.state, bool(row.meta.get("gated")) and not allow_gated_text
    shown = displayable(row, allow_gated_text)
    last = len(row.messages) - 1
    judgement, failure = shown.judgement, shown.failure
    return json_for_html(
        {
            "run": run,
            "id": row.id,
            "task": row.task,
            "setting": setting,
            "state": state,
            "gated": gated,
            "correct": row.correct,
            "reference": shown.reference and _cut(shown.reference),
            "messages": [_message(message) for message in shown.messages],
            "answer": None if answer is None else last - (turn is not None),
            "turn": None if turn is None else last,
            "judgement": judgement
            and {
                "label": judgement.label,
                "genuine": judgement.genuine,
                "judge": judgement.judge,
                "reply": _cut(judgement.reply),
            },
            "failure": failure and {"stage": failure.stage, "kind": failure.kind, "detail": _cut(failure.detail)},
        }
    )


def _message(message: Message) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "text": _cut(message.text), "by": message.by}
    told |= {"finish": message.finish, "tokens": message.tokens}
    told["reasoning"] = message.reasoning and _cut(message.reasoning)
    return {key: value for key, value in told.items() if value is not None}


def _cut(text: str) -> str:
    beyond = len(text) - MAX_TEXT
    return text if beyond <= 0 else f"{text[:MAX_TEXT]}\n[{beyond} more characters in rows.jsonl]"


def _in_order(counted: tuple[tuple[int, str, str, str], int]) -> tuple[int, tuple[int, str], str, str]:
    (run, task, stage, kind), _ = counted
    return run, place(task), stage, kind


def _fitting(sizes: dict[str, _Size], limits: Limits) -> Iterator[str]:
    by_task: dict[str, list[str]] = {}
    for id in sorted(sizes, key=lambda id: hashlib.sha256(id.encode("utf-8", "surrogatepass")).digest()):
        by_task.setdefault(sizes[id].task, []).append(id)
    rows = bytes = 0
    for turn in zip_longest(*(by_task[task] for task in sorted(by_task, key=place))):
        for id in turn:
            if id is None:
                continue
            rows, bytes = rows + sizes[id].rows, bytes + sizes[id].bytes
            if rows > limits.rows or bytes > limits.bytes:
                return
            yield id
