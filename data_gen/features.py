"""Explicit column types of the data files, so that `datasets` does not infer them.

With inferred types, its JSON reader turns "007" into 7 (huggingface/datasets#7664). With explicit types it does not,
but it still reads a column that contains only dates as "2024-01-02 00:00:00", so `load_file` parses the lines itself.
`meta` has no fixed schema, because it differs from seed to seed, and is stored as JSON.
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
"""The columns of `Dialogue.to_json`: a type name, a mapping for a struct, a one-element list for a list."""
REJECT: dict[str, Any] = {"reason": "string", "detail": "string", "stage": "string", **DIALOGUE}
"""The columns of `Reject.to_json`; the texts of a leak are null."""
FILES: dict[str, dict[str, Any]] = {"conversations": DIALOGUE, "solutions": DIALOGUE, "rejects": REJECT}
"""Name of a configuration on the Hub, and of its `.jsonl` file -> its columns."""


def load_file(folder: Path, name: str) -> Dataset:
    """A data file of `folder`, such as "conversations", as a `datasets.Dataset` with unchanged values."""
    from datasets import Dataset

    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return Dataset.from_list([json.loads(line) for line in lines], features=features(FILES[name]))


def features(columns: Mapping[str, Any]) -> Features:
    """`columns` as `datasets.Features`."""
    from datasets import Features, Json, List, Value

    def feature(kind: Any) -> Any:
        if isinstance(kind, list):
            return List(feature(kind[0]))
        if isinstance(kind, dict):
            return {name: feature(inner) for name, inner in kind.items()}
        return Json() if kind == "json" else Value(kind)

    return Features({name: feature(kind) for name, kind in columns.items()})


def header_features(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """`columns` in the format of `dataset_info` in a card's header."""

    def header_feature(name: str, kind: Any) -> dict[str, Any]:
        if isinstance(kind, list):
            return {"name": name, "list": header_features(kind[0])}
        if isinstance(kind, dict):
            return {"name": name, "struct": header_features(kind)}
        return {"name": name, "dtype": kind}

    return [header_feature(name, kind) for name, kind in columns.items()]
