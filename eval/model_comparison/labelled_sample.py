"""Labelled user turns, with the decisions of the judges of a comparison on them.

For an item that is a row of a judge's run, the decision is stored in that row. For any other item it is the one that
the gold file has for the judge's id or, for an embedded judge, one made now; these are written next to the table, so
that it can be recomputed without a judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval import plugin
from eval.config import ConfigError
from eval.dialogue import Judgement, Message
from eval.fitted_share import fitted_share
from eval.gold import GoldItem, context_hash, read_gold
from eval.rater_agreement import judge_items


@dataclass(frozen=True)
class Decided:
    """One judge's decisions on the items that are not rows of its runs."""

    said: Mapping[str, bool | None]
    """Content hash of an item -> whether the judge calls it genuine; None if it gave no judgement."""
    fitted_share: float = 0.0
    """The share of all items, in [0, 1], whose query the judge was fitted on: its error there is underestimated."""


Decisions = Mapping[str, Decided]
"""By judge id."""


def content_of(messages: Sequence[Message]) -> str:
    """A hash of roles and texts, regardless of who wrote them, by which an item is matched to a row of a run."""
    return context_hash(messages)


@dataclass(frozen=True)
class LabelledSample:
    """The distinct items of one gold file, with each judge's decisions on those that are not rows of its runs."""

    items: Mapping[str, GoldItem]
    """By content."""
    decisions: Decisions


def read_items(path: Path) -> dict[str, GoldItem]:
    """The items of a gold file by content hash.

    Raises:
        ConfigError: the file is missing, a row is malformed, or one text has two labels.
    """
    try:
        found = read_gold(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"--labels: {error}") from error
    items: dict[str, GoldItem] = {}
    for item in found:
        before = items.setdefault(content_of(item.dialogue.messages), item)
        if (before.genuine, before.label) != (item.genuine, item.label):
            raise ConfigError(f"--labels {path}: a turn on {item.dialogue.task} has two labels; keep one")
    return items


def decide(items: Mapping[str, GoldItem], judges: Iterable[str], known: Mapping[str, set[str]]) -> Decisions:
    """The decisions of each judge on the items, except those `known` from its own rows (judge id -> contents).

    Raises:
        ConfigError: no decision of a judge on any item is available.
    """
    decisions: dict[str, Decided] = {}
    for judge in judges:
        unknown = {content: item for content, item in items.items() if content not in known[judge]}
        genuine: dict[str, bool | None] = {
            content: item.judgements[judge].genuine for content, item in unknown.items() if judge in item.judgements
        }
        rest = {content: item for content, item in unknown.items() if content not in genuine}
        genuine |= _judge_now(judge, rest)
        if not genuine and len(unknown) == len(items):
            raise ConfigError(
                f"--labels: no decision of {judge} on these items is available: none is a row of these runs, none has "
                "it in its `judgements`, and it is not an embedded judge of this version"
            )
        decisions[judge] = Decided(genuine, fitted_share(list(items.values()), _name_of(judge)))
    return decisions


def _judge_now(judge_id: str, items: Mapping[str, GoldItem]) -> dict[str, bool | None]:
    """The decisions of an embedded judge; empty if the id belongs to another kind of judge or another version."""
    name = _name_of(judge_id)
    if not name or not items:
        return {}
    judge_class: Any = plugin.load("eval.judges", name).Judge
    if vars(judge_class).get("cost_bound") != 0.0:
        return {}
    judge = judge_class()
    if judge.id != judge_id:
        return {}
    results = judge_items(list(items.values()), judge)
    return {
        content: result.genuine if isinstance(result, Judgement) else None
        for content, result in zip(items, results, strict=True)
    }


def _name_of(judge_id: str) -> str:
    """The module name in `eval/judges/` of the judge with this id; empty if there is none."""
    return max((name for name in plugin.names("eval.judges") if judge_id.startswith(f"{name}-")), key=len, default="")
