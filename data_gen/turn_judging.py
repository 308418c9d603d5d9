"""A judge's verdict on every user turn of a conversation, each on the turns before it; kept from run to run.

`judged.jsonl` has a row for each: the conversation up to that turn, with its judgement or failure. A failure is tried
again by the next run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from eval.dialogue import Dialogue, Failure, content_hash
from eval.judge import Judge
from eval.progress import Progress
from eval.rows import RowStore


def user_turns(conversation: Dialogue) -> list[int]:
    """Places of the generated user turns, those after the seed."""
    start = conversation.meta["seed_turns"]
    return [turn for turn, message in enumerate(conversation.messages) if turn >= start and message.role == "user"]


def judge_turns(conversations: Iterable[Dialogue], judge: Judge, store: RowStore, display: Progress) -> None:
    """Judge every generated user turn that `store` lacks."""
    prefixes = [prefix for conversation in conversations for prefix in _prefixes(conversation)]
    missing = [prefix for prefix in prefixes if store.missing(_key(judge, prefix))]
    with (
        display("judging", len(prefixes), len(prefixes) - len(missing)) as advance,
        closing(judge.judge(missing)) as decided,
    ):
        for prefix, result in decided:
            store.append(_key(judge, prefix), prefix.with_result(result))
            advance()


def with_verdicts(conversation: Dialogue, judge: Judge, store: RowStore) -> Dialogue:
    """`conversation` with `meta["judged"]`: for each generated user turn its place and its verdict or failure."""
    judged = [_verdict(store.get(_key(judge, prefix)), len(prefix.messages) - 1) for prefix in _prefixes(conversation)]
    return replace(conversation, meta={**conversation.meta, "judge": judge.id, "judged": judged})


def _prefixes(conversation: Dialogue) -> Iterator[Dialogue]:
    """The conversation up to each generated user turn, as dialogues of their own."""
    for turn in user_turns(conversation):
        yield Dialogue(conversation.task, conversation.messages[: turn + 1])


def _key(judge: Judge, prefix: Dialogue) -> str:
    return content_hash([judge.id, prefix.id])


def _verdict(row: Dialogue, turn: int) -> dict[str, Any]:
    if row.judgement is not None:
        return {"turn": turn, "label": row.judgement.label, "genuine": row.judgement.genuine, "failure": None}
    assert isinstance(row.failure, Failure)
    return {"turn": turn, "label": None, "genuine": None, "failure": row.failure.kind}
