"""The share of labelled items that a judge was fitted on, where its measured agreement is too high."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from eval.gold import GoldItem


def fitted_share(items: Sequence[GoldItem], judge: str) -> float:
    """The share of items, in [0, 1], whose query the judge was fitted on; 0 for a judge that is not fitted."""
    parameters = Path(__file__).parent / "judges" / f"{judge}.json"
    if not parameters.is_file():
        return 0.0
    fitted_contexts = set(json.loads(parameters.read_text(encoding="utf-8")).get("contexts", []))
    return sum(item.context in fitted_contexts for item in items) / len(items)
