"""The dialogues of a report: each row as one line of JSON, split into parts small enough for a browser.

A dialogue's part depends only on its id, so it is the same in every run and independent of what was generated or
judged; each part is a random sample of all rows.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.dialogue import Dialogue, Message
from eval.finished_runs import Run
from eval.gated_text import displayable
from eval.paper.headings import place
from eval.report_page.inert import json_for_html
from eval.summary import answer_of, setting_of, user_turn_of

MAX_TEXT = 50_000
"""Characters shown of one text."""
UNWRITTEN = 2**23
"""Characters of entries buffered in memory before they are appended to the files of their parts."""


@dataclass(frozen=True)
class Limits:
    """Average size limits of a part: rows (a dialogue counts once per run), and bytes of the runs' files."""

    rows: int = 5_000
    bytes: int = 20_000_000


@dataclass(frozen=True)
class Part:
    """Some of the dialogues, with the file of their entries."""

    path: Path
    dialogues: int
    """Distinct dialogues, each with a row per run that has it."""
    gated: int
    """Dialogues whose text is withheld."""

    def entries(self) -> Iterator[str]:
        """Its rows as one line of JSON each, run by run."""
        return (entry for _, _, entry in _spooled(self.path))


@dataclass(frozen=True)
class Spread:
    """All dialogues of a report, in parts."""

    parts: tuple[Part, ...]
    failures: tuple[tuple[int, str, str, str, int], ...]
    """Run number, task, stage, kind and count, over all rows."""

    @property
    def dialogues(self) -> int:
        """Dialogues in all parts."""
        return sum(part.dialogues for part in self.parts)


@dataclass
class _Spool:
    """Buffers entries, and appends them to the files of their parts some megabytes at a time."""

    folder: Path
    waiting: dict[int, list[str]] = field(default_factory=dict)
    size: int = 0

    def add(self, part: int, line: str) -> None:
        self.waiting.setdefault(part, []).append(line)
        self.size += len(line)
        if self.size > UNWRITTEN:
            self.write()

    def write(self) -> None:
        for part, lines in self.waiting.items():
            with self.path(part).open("a", encoding="utf-8") as file:
                file.writelines(lines)
        self.waiting, self.size = {}, 0

    def path(self, part: int) -> Path:
        return self.folder / f"{part}.jsonl"


def spread(runs: Sequence[Run], limits: Limits, allow_gated_text: bool, folder: Path) -> Spread:
    """Write the entry of every row to the file of its part in `folder`, in linear time and bounded memory.

    Raises:
        ConfigError: a run has a malformed row.
    """
    parts = number_of_parts(runs, limits)
    spool = _Spool(folder)
    failures: Counter[tuple[int, str, str, str]] = Counter()
    for number, run in enumerate(runs):
        for row in run.rows():
            gated = bool(row.meta.get("gated")) and not allow_gated_text
            entry = encode(row, number, allow_gated_text)
            spool.add(part_of(row.id, parts), f"{'g' if gated else 't'}{json.dumps(row.id)}\t{entry}\n")
            if row.failure:
                failures[number, row.task, row.failure.stage, row.failure.kind] += 1
    spool.write()
    return Spread(
        parts=tuple(_read_part(spool.path(part)) for part in range(parts)),
        failures=tuple((*key, count) for key, count in sorted(failures.items(), key=_display_order)),
    )


def number_of_parts(runs: Sequence[Run], limits: Limits) -> int:
    """The number of parts that keeps their average size within the limits."""
    rows = bytes = 0
    for path in (path / "rows.jsonl" for run in runs for path in run.paths):
        bytes += path.stat().st_size
        with path.open("rb") as file:
            rows += sum(1 for _ in file)
    return max(1, math.ceil(rows / limits.rows), math.ceil(bytes / limits.bytes))


def part_of(id: str, parts: int) -> int:
    """The part of a dialogue, from 0: the SHA-256 of its id modulo the number of parts."""
    return int.from_bytes(hashlib.sha256(id.encode("utf-8", "surrogatepass")).digest()[:8]) % parts


def encode(row: Dialogue, run: int, allow_gated_text: bool) -> str:
    """One row as JSON that is safe inside HTML, with the places of the answer and of the measured user turn."""
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


def _read_part(path: Path) -> Part:
    ids: set[str] = set()
    gated: set[str] = set()
    for withheld, id, _ in _spooled(path):
        ids.add(id)
        if withheld:
            gated.add(id)
    return Part(path, len(ids), len(gated))


def _spooled(path: Path) -> Iterator[tuple[bool, str, str]]:
    """(withheld, id as JSON, entry) of each line; a part without dialogues has no file."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            id, _, entry = line[1:-1].partition("\t")
            yield line[0] == "g", id, entry


def _message(message: Message) -> dict[str, Any]:
    fields: dict[str, Any] = {"role": message.role, "text": _cut(message.text), "by": message.by}
    fields |= {"finish": message.finish, "tokens": message.tokens}
    fields["reasoning"] = message.reasoning and _cut(message.reasoning)
    return {key: value for key, value in fields.items() if value is not None}


def _cut(text: str) -> str:
    beyond = len(text) - MAX_TEXT
    return text if beyond <= 0 else f"{text[:MAX_TEXT]}\n[{beyond} more characters in rows.jsonl]"


def _display_order(counted: tuple[tuple[int, str, str, str], int]) -> tuple[int, tuple[int, str], str, str]:
    (run, task, stage, kind), _ = counted
    return run, place(task), stage, kind
