"""Judge the user turns of finished runs again with other judges; results are appended to disk, so a rerun resumes.

A judgement is stored without its text, keyed by the judge and a hash of the text, so equal rows are judged once.
Nothing that may quote a gated data set is stored, neither a judge's reply nor the detail of a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from eval.client.spender import spending
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
    """Without judgement or failure."""
    ids: tuple[str, ...]
    """For each dialogue, a hash of its run's protocol and its row id."""
    contexts: tuple[str, ...]
    """For each dialogue, a hash of the messages before the answer: turns on one query are correlated."""
    known: tuple[Judgement | None, ...]
    """For each dialogue, the judgement of its run."""
    left_out: int
    """Rows without a generated user turn."""


def read_panel(runs: Iterable[Run]) -> Panel:
    """Every generated user turn of the runs, whether it was judged or not.

    Raises:
        ConfigError: a run has a malformed row, or there is no user turn.
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
    """The judgements of one judge on a panel, taken from the runs and `store`; `judge` adds those that both lack."""

    def __init__(self, panel: Panel, judge: Judge, store: RowStore) -> None:
        self._panel, self._judge, self._store = panel, judge, store
        self._keys = [_key(judge.id, dialogue) for dialogue in panel.dialogues]

    def missing(self) -> list[Dialogue]:
        """The turns still to be judged, each text once; the id of each is its key in the store."""
        lacking = {
            key: replace(dialogue, id=key)
            for key, dialogue, known in zip(self._keys, self._panel.dialogues, self._panel.known, strict=True)
            if self._store.missing(key) and not self._is_own(known)
        }
        return list(lacking.values())

    def judge(self, display: Progress) -> None:
        """Judge every missing turn; each result is on disk before the next one is requested."""
        missing = self.missing()
        title, note = f"judging by {self._judge.id}", partial(spending, spent=self._judge)
        with display(title, len(missing), note=note) as advance, closing(self._judge.judge(missing)) as decided:
            for dialogue, result in decided:
                self._store.append(dialogue.id, _stored_row(dialogue, result))
                advance()

    def results(self) -> Iterator[Result]:
        """The judge's result for each turn of the panel, in its order."""
        no_reply = Failure("judge", "no_reply", "the judge gave no result for this turn")
        for key, known in zip(self._keys, self._panel.known, strict=True):
            if self._is_own(known):
                assert known is not None
                yield known
            else:
                stored = self._store.get(key) if key in self._store else None
                yield (stored.judgement or stored.failure or no_reply) if stored else no_reply

    def _is_own(self, judgement: Judgement | None) -> bool:
        return judgement is not None and judgement.judge == self._judge.id


def refuse_one_judge(ids: Sequence[str]) -> None:
    """Raise a `ConfigError` unless there are two different judges."""
    repeated = [id for place, id in enumerate(ids) if id in ids[:place]]
    if repeated:
        raise ConfigError(f"--judges names {repeated[0]} twice")
    if len(ids) < 2:
        raise ConfigError("--judges: agreement is between judges; name two or more, such as local,grounding")


def open_store(folder: Path) -> RowStore:
    """The judgements stored in `folder`.

    Raises:
        ConfigError: they can't be read or written, or another process has them open.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return RowStore(folder / "judgements.jsonl")
    except BlockingIOError as error:
        raise ConfigError(f"another process is using {folder}; wait for it or choose another --out") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folder}: {error}") from error


def _key(judge_id: str, dialogue: Dialogue) -> str:
    return content_hash(["rejudged", judge_id, context_hash(dialogue.messages)])


def _stored_row(dialogue: Dialogue, result: Result) -> Dialogue:
    shown = displayable(dialogue.with_result(result))
    return Dialogue(dialogue.task, (), judgement=shown.judgement, failure=shown.failure, id=dialogue.id)
