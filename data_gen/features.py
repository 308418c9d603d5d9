"""The columns of the data files, said outright: what they hold is never guessed, by `datasets` least of all.

Left to guess, its JSON reader turns "007" into 7 (huggingface/datasets#7664). Told the columns it does not, but a
column of nothing but dates still comes back as "2024-01-02 00:00:00": `load_file` reads the lines itself. `meta`
differs from seed to seed and is JSON of any shape, kept as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datasets import Dataset, Features

MESSAGE = {
    "role": "string",
    "text": "string",
    "by": "string",
    "finish": "string",
    "tokens": "int64",
    "reasoning": "string",
}
JUDGEMENT = {
    "label": "string",
    "genuine": "bool",
    "judge": "string",
    "reply": "string",
    "prompt_sha": "string",
    "tokens": "int64",
    "cost": "float64",
}
FAILURE = {"stage": "string", "kind": "string", "detail": "string"}
DIALOGUE: dict[str, Any] = {
    "task": "string",
    "messages": [MESSAGE],
    "reference": "string",
    "meta": "json",
    "correct": "bool",
    "judgement": JUDGEMENT,
    "failure": FAILURE,
    "id": "string",
    "state": "string",
}
"""The columns of `Dialogue.to_json`: a type's name, a mapping for a structure, a list of one such for a list."""
REJECT: dict[str, Any] = {"reason": "string", "detail": "string", "stage": "string", **DIALOGUE}
"""The columns of `Reject.to_json`; the texts of a leak are null."""
FILES: dict[str, dict[str, Any]] = {"conversations": DIALOGUE, "solutions": DIALOGUE, "rejects": REJECT}
"""Name of a configuration on the Hub, and of its `.jsonl` file, to its columns."""


def load_file(folder: Path, name: str) -> Dataset:
    """A data file of `folder`, such as "conversations", as a `datasets.Dataset` with the values that are in it."""
    from datasets import Dataset

    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return Dataset.from_list([json.loads(line) for line in lines], features=features(FILES[name]))


def features(columns: Mapping[str, Any]) -> Features:
    """`columns` as the `datasets` library has them."""
    from datasets import Features, Json, List, Value

    def feature(kind: Any) -> Any:
        if isinstance(kind, list):
            return List(feature(kind[0]))
        if isinstance(kind, dict):
            return {name: feature(inner) for name, inner in kind.items()}
        return Json() if kind == "json" else Value(kind)

    return Features({name: feature(kind) for name, kind in columns.items()})


def header_features(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """`columns` as the header of a card has them, under `dataset_info`."""

    def described(name: str, kind: Any) -> dict[str, Any]:
        if isinstance(kind, list):
            return {"name": name, "list": header_features(kind[0])}
        if isinstance(kind, dict):
            return {"name": name, "struct": header_features(kind)}
        return {"name": name, "dtype": kind}

    return [described(name, kind) for name, kind in columns.items()]
