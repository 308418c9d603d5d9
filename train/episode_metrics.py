"""Per-step episode metrics: label shares, lengths, and shares of unknown, truncated and duplicate turns.

Reward hacking shows here: one question for every answer, copies, plans. Pure functions, and always the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eval.dialogue import Message
from eval.labels import LABELS, SPECIFIC
from train.episodes import Episode

METRICS = (
    *("unknown_share", "judged_share", "genuine_share", "specific_share", "questions_share", "distinct_share"),
    *("cut_off/assistant", "cut_off/user", "tokens/assistant", "tokens/user", "characters/assistant"),
    *("characters/user",),
    *(f"labels/{label}" for label in LABELS),
)
"""Shares are of all episodes, except that label, genuine and specific shares are of the judged ones."""


def metrics(episodes: Sequence[Episode]) -> dict[str, float | None]:
    """Every name in `METRICS`; None where there is nothing to count."""
    judgements = [episode.dialogue.judgement for episode in episodes if episode.dialogue.judgement]
    turns = [episode.dialogue.messages[-1].text for episode in episodes]
    values = {
        "unknown_share": _share([None in episode.rewards.values() for episode in episodes]),
        "judged_share": _share([episode.dialogue.judgement is not None for episode in episodes]),
        "genuine_share": _share([judgement.genuine for judgement in judgements]),
        "specific_share": _share([judgement.label in SPECIFIC for judgement in judgements]),
        "questions_share": _share(["?" in turn for turn in turns]),
        "distinct_share": len({turn.strip().lower() for turn in turns}) / len(turns) if turns else None,
    }
    for role in ("assistant", "user"):
        sampled = [message for episode in episodes for message in _sampled(episode) if message.role == role]
        values[f"cut_off/{role}"] = _share([message.finish == "length" for message in sampled])
        values[f"tokens/{role}"] = _mean(sampled, lambda message: message.tokens or 0)
        values[f"characters/{role}"] = _mean(sampled, lambda message: len(message.text))
    for label in LABELS:
        values[f"labels/{label}"] = _share([judgement.label == label for judgement in judgements])
    return {name: values[name] for name in METRICS}


def _sampled(episode: Episode) -> Sequence[Message]:
    turns = sum(span.role is not None for span in episode.spans)
    return episode.dialogue.messages[-turns:] if turns else ()


def _share(hits: Sequence[bool]) -> float | None:
    return sum(hits) / len(hits) if hits else None


def _mean(messages: Sequence[Message], size: Callable[[Message], int]) -> float | None:
    return sum(map(size, messages)) / len(messages) if messages else None
