"""How many labelled items a judge has been fitted on: figures on these flatter it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from eval.gold import GoldItem


def fitted_share(items: Sequence[GoldItem], judge: str) -> float:
    """The share of items, in [0, 1], on queries that the judge was fitted on; 0 for a judge that is not fitted."""
    parameters = Path(__file__).parent / "judges" / f"{judge}.json"
    if not parameters.is_file():
        return 0.0
    seen = set(json.loads(parameters.read_text(encoding="utf-8")).get("contexts", []))
    return sum(item.context in seen for item in items) / len(items)
