"""Exports the reviewers' decisions as a gold file for `eval/gold.py`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.config import ConfigError
from eval.gold import context_hash
from eval.review_bench.decision import Decision
from eval.review_bench.items import ReviewItem
from eval.review_bench.store import ReviewStore
from eval.run_dir import write_atomically

HEX_DIGITS = 12


@dataclass(frozen=True)
class Exported:
    """Numbers of items that were written and left out."""

    written: int
    undecided: int
    """Items without a complete decision."""
    disputed: int
    """Items without a majority for one label and binary."""


def export_gold(store: ReviewStore, path: Path, annotator: str | None = None) -> Exported:
    """Write the decided items to `path` atomically, one JSON object per line.

    A row has `id`, `context`, `task`, `source`, `temperature`, `finish`, `messages`, `user_turn`, `label`, `genuine`;
    `weight`: how many distinct turns of the runs it represents, 1 if all were reviewed; and `judgements`: those of the
    runs' judges, by judge id.

    Args:
        annotator: whose decisions to export; None: the label and binary that more than half of an item's reviewers
            agree on.

    Raises:
        ConfigError: the annotator has no decisions, no decision is complete, or `path` can't be written.
    """
    names = store.annotators()
    if annotator is not None and annotator not in names:
        raise ConfigError(f"no decision by {annotator!r} in {store.path}; reviewers are {', '.join(names) or 'none'}")
    decisions = [store.decisions(name) for name in names if annotator in (None, name)]
    lines, undecided, disputed = [], 0, 0
    for position, item in store.items():
        given = [mine[position] for mine in decisions if position in mine and mine[position].complete]
        agreed = majority(given)
        undecided += not given
        disputed += bool(given) and agreed is None
        if agreed is not None:
            lines.append(_line(item, agreed))
    if not lines:
        raise ConfigError(f"nothing to export: no item in {store.path} has a complete decision without dispute")
    try:
        write_atomically(path, "".join(lines))
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror}; choose another --export") from error
    return Exported(len(lines), undecided, disputed)


def majority(given: list[Decision]) -> Decision | None:
    """The label and binary that more than half of the complete decisions share, or None."""
    counts = Counter((decision.label, decision.genuine) for decision in given)
    (shared, times), *_ = counts.most_common(1) or [((None, None), 0)]
    return Decision(*shared) if 2 * times > len(given) else None


def _line(item: ReviewItem, decision: Decision) -> str:
    row = _row(item, decision)
    line = json.dumps(row, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:  # a lone surrogate: JSON can escape it, UTF-8 cannot hold it
        line = json.dumps(row)
    return line + "\n"


def _row(item: ReviewItem, decision: Decision) -> Mapping[str, Any]:
    *context, turn = item.dialogue.messages
    return {
        "id": item.dialogue.id[:HEX_DIGITS],
        "context": context_hash(context[:-1])[:HEX_DIGITS],
        "task": item.dialogue.task,
        "source": turn.by,
        "temperature": item.temperature,
        "finish": turn.finish,
        "messages": [{"role": message.role, "content": message.text} for message in context],
        "user_turn": turn.text,
        "label": decision.label,
        "genuine": decision.genuine,
        "weight": item.weight,
        "judgements": {j.judge: {"label": j.label, "genuine": j.genuine} for j in item.judgements},
    }
