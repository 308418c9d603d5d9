"""Judges every generated user turn of a conversation in the context of the turns before it; results are kept.

`judged.jsonl` has a row for each: the conversation up to that turn, with its judgement or failure. The next run retries
failures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from eval.client.spender import spending
from eval.dialogue import Dialogue, Failure, content_hash
from eval.judge import Judge
from eval.progress import Progress
from eval.rows import RowStore


def user_turns(conversation: Dialogue) -> list[int]:
    """Message indices of the generated user turns, which come after the seed."""
    start = conversation.meta["seed_turns"]
    return [turn for turn, message in enumerate(conversation.messages) if turn >= start and message.role == "user"]


def judge_turns(conversations: Iterable[Dialogue], judge: Judge, store: RowStore, display: Progress) -> None:
    """Judge every generated user turn that is not in `store`."""
    prefixes = [prefix for conversation in conversations for prefix in _prefixes(conversation)]
    missing = [prefix for prefix in prefixes if store.missing(_key(judge, prefix))]
    note = partial(spending, judge=judge)
    with (
        display("judging", len(prefixes), len(prefixes) - len(missing), note=note) as advance,
        closing(judge.judge(missing)) as decided,
    ):
        for prefix, result in decided:
            store.append(_key(judge, prefix), prefix.with_result(result))
            advance()


def with_verdicts(conversation: Dialogue, judge: Judge, store: RowStore) -> Dialogue:
    """`conversation` with `meta["judged"]`: message index and verdict or failure of each generated user turn."""
    judged = [_verdict(store.get(_key(judge, prefix)), len(prefix.messages) - 1) for prefix in _prefixes(conversation)]
    return replace(conversation, meta={**conversation.meta, "judge": judge.id, "judged": judged})


def _prefixes(conversation: Dialogue) -> Iterator[Dialogue]:
    """The conversation up to and including each generated user turn, as separate dialogues."""
    for turn in user_turns(conversation):
        yield Dialogue(conversation.task, conversation.messages[: turn + 1])


def _key(judge: Judge, prefix: Dialogue) -> str:
    return content_hash([judge.id, prefix.id])


def _verdict(row: Dialogue, turn: int) -> dict[str, Any]:
    if row.judgement is not None:
        return {"turn": turn, "label": row.judgement.label, "genuine": row.judgement.genuine, "failure": None}
    assert isinstance(row.failure, Failure)
    return {"turn": turn, "label": None, "genuine": None, "failure": row.failure.kind}
