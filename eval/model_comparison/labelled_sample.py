"""Labelled user turns beside the runs of a table: which are rows of a run, and what the runs' judges say of the rest.

A judge's decision on a row of its run is that row's. On any other item it is the one that the gold file holds for the
judge's id, else, for an embedded judge, the one that it gives on the spot; these are written down beside the table, so
that it can be made again without a judge.
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
    """What one judge says of the items that are no rows of its runs."""

    said: Mapping[str, bool | None]
    """Content of an item -> whether the judge calls it genuine; None: it gave no judgement."""
    fitted_share: float = 0.0
    """The share of all items, in [0, 1], on queries that the judge was fitted on: its error there is too small."""


Decisions = Mapping[str, Decided]
"""By judge id."""


def content_of(messages: Sequence[Message]) -> str:
    """Equal for equal roles and texts, whoever wrote them: how an item and a row of a run are known as one."""
    return context_hash(messages)


@dataclass(frozen=True)
class LabelledSample:
    """The items of one gold file, each text once, with the decisions of judges on those that are no rows of theirs."""

    items: Mapping[str, GoldItem]
    """By content."""
    decisions: Decisions


def read_items(path: Path) -> dict[str, GoldItem]:
    """The items of a gold file by their content.

    Raises:
        ConfigError: there is no such file, a row is malformed, or one text has two labels.
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


def decided(items: Mapping[str, GoldItem], judges: Iterable[str], known: Mapping[str, set[str]]) -> Decisions:
    """The decisions of each judge on the items, but for those `known` from its own rows (judge id -> contents).

    Raises:
        ConfigError: nothing tells what a judge says of any item.
    """
    decisions: dict[str, Decided] = {}
    for judge in judges:
        asked = {content: item for content, item in items.items() if content not in known[judge]}
        told: dict[str, bool | None] = {
            content: item.judgements[judge].genuine for content, item in asked.items() if judge in item.judgements
        }
        rest = {content: item for content, item in asked.items() if content not in told}
        told |= _on_the_spot(judge, rest)
        if not told and len(asked) == len(items):
            raise ConfigError(
                f"--labels: nothing tells what {judge} says of these items: none is a row of these runs, none has it "
                "in its `judgements`, and it is no embedded judge of this version"
            )
        decisions[judge] = Decided(told, fitted_share(list(items.values()), _name_of(judge)))
    return decisions


def _on_the_spot(judge_id: str, items: Mapping[str, GoldItem]) -> dict[str, bool | None]:
    """What an embedded judge says of the items; nothing where the id is of another judge, or of another version."""
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
    """The file of `eval/judges/` whose judge has this id; empty if there is none."""
    return max((name for name in plugin.names("eval.judges") if judge_id.startswith(f"{name}-")), key=len, default="")
