"""The record of its training in a model folder: base weights, method and rewarding judge.

A judge that has rewarded a model must not evaluate it without a warning, so comparisons read the record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.config import ConfigError
from eval.run_dir import write_atomically

FILE = "training.json"


def write_training_record(model: Path, *, method: str, base: str, reward_judge: str | None = None) -> None:
    """Write the record to a model folder.

    Args:
        base: id of the weights that training began with.
        reward_judge: id of the judge whose decisions were rewarded, if there was one.
    """
    record = {"method": method, "base": base, "reward_judge": reward_judge}
    write_atomically(model / FILE, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def read_training_record(model: Path) -> dict[str, Any]:
    """The record in a model folder; empty if it has none, as for a model that was not trained here.

    Raises:
        ConfigError: the file is not such a record.
    """
    try:
        record = json.loads((model / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{model / FILE} can't be read ({error}); copy it from where the model was saved") from error
    if not isinstance(record, Mapping):
        raise ConfigError(f"{model / FILE} is not a training record; copy it from where the model was saved")
    return dict(record)
