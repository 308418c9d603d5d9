"""Judge the user turns of finished runs once more, by other judges: append-only, so that it goes on where it was.

A judgement is kept without the text that it is about, by the judge and a hash of that text: rows that say the same are
asked once. Nothing that may quote a gated data set is kept, neither a judge's reply nor the detail of a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Judgement, content_hash
from eval.finished_runs import Run
from eval.gated_text import displayable
from eval.gold import context_hash
from eval.judge import Judge, unjudgeable
from eval.progress import Progress
from eval.rows import RowStore

Result = Judgement | Failure


@dataclass(frozen=True)
class Panel:
    """The generated user turns of several runs, to be judged by several judges."""

    dialogues: tuple[Dialogue, ...]
    """As they were before any judgement."""
    ids: tuple[str, ...]
    """Of each of them: run and row."""
    contexts: tuple[str, ...]
    """What each reacts to up to the response: turns on one query rise and fall together."""
    known: tuple[Judgement | None, ...]
    """What the judge of the run said of each."""
    left_out: int
    """Rows without a generated user turn."""


def read_panel(runs: Iterable[Run]) -> Panel:
    """Every generated user turn of the runs, whether it was judged or not.

    Raises:
        ConfigError: a line of a run is no row, or there is no user turn.
    """
    found: list[tuple[Dialogue, str, str, Judgement | None]] = []
    left_out = 0
    for run in runs:
        for row in run.rows():
            if row.real_user or row.state in ("gen_error", "skipped") or unjudgeable(row.messages):
                left_out += 1
                continue
            bare = replace(row, judgement=None, failure=None)
            id = content_hash([run.protocol, row.id])
            found.append((bare, id, context_hash(row.messages[:-2]), row.judgement))
    if not found:
        raise ConfigError("the runs hold no generated user turn")
    dialogues, ids, contexts, known = zip(*found, strict=True)
    return Panel(dialogues, ids, contexts, known, left_out)


class Rejudging:
    """The judgements of one judge on a panel: those of the runs, those that `store` keeps, and what both lack."""

    def __init__(self, panel: Panel, judge: Judge, store: RowStore) -> None:
        self._panel, self._judge, self._store = panel, judge, store
        self._keys = [_key(judge.id, dialogue) for dialogue in panel.dialogues]

    def missing(self) -> list[Dialogue]:
        """The turns that are to be asked about, each text once; its id is the key of what is kept."""
        lacking = {
            key: replace(dialogue, id=key)
            for key, dialogue, known in zip(self._keys, self._panel.dialogues, self._panel.known, strict=True)
            if self._store.missing(key) and not self._knows(known)
        }
        return list(lacking.values())

    def judge(self, display: Progress) -> None:
        """Ask about every missing turn; what is decided is on disk before the next one is drawn."""
        missing = self.missing()
        title = f"judging by {self._judge.id}"
        with display(title, len(missing)) as advance, closing(self._judge.judge(missing)) as decided:
            for dialogue, result in decided:
                self._store.append(dialogue.id, _kept(dialogue, result))
                advance()

    def results(self) -> Iterator[Result]:
        """What the judge says of each turn of the panel, in its order."""
        unasked = Failure("judge", "no_reply", "the judge gave no result for this turn")
        for key, known in zip(self._keys, self._panel.known, strict=True):
            if self._knows(known):
                assert known is not None
                yield known
            else:
                kept = self._store.get(key) if key in self._store else None
                yield (kept.judgement or kept.failure or unasked) if kept else unasked

    def _knows(self, known: Judgement | None) -> bool:
        return known is not None and known.judge == self._judge.id


def refuse_one_judge(ids: Sequence[str]) -> None:
    """Raise a `ConfigError` unless there are two different judges."""
    repeated = [id for place, id in enumerate(ids) if id in ids[:place]]
    if repeated:
        raise ConfigError(f"--judges names {repeated[0]} twice")
    if len(ids) < 2:
        raise ConfigError("--judges: agreement is between judges; name two or more, such as local,grounding")


def open_store(folder: Path) -> RowStore:
    """The judgements kept in `folder`.

    Raises:
        ConfigError: they can't be read or written, or another process writes them.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return RowStore(folder / "judgements.jsonl")
    except BlockingIOError as error:
        raise ConfigError(f"another process works in {folder}; wait for it or choose another --out") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folder}: {error}") from error


def _key(judge_id: str, dialogue: Dialogue) -> str:
    return content_hash(["rejudged", judge_id, context_hash(dialogue.messages)])


def _kept(dialogue: Dialogue, result: Result) -> Dialogue:
    decided = (
        replace(dialogue, judgement=result) if isinstance(result, Judgement) else replace(dialogue, failure=result)
    )
    shown = displayable(decided)
    return Dialogue(dialogue.task, (), judgement=shown.judgement, failure=shown.failure, id=dialogue.id)
