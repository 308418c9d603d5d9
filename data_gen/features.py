"""The columns of the data files, said outright: what they hold is never guessed, by `datasets` least of all.

Left to guess, its JSON reader turns "007" into 7 and a column of dates into timestamps (huggingface/datasets#7664).
`meta` differs from seed to seed and is JSON of any shape, kept as it is.
"""

from __future__ import annotations

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
FILES: dict[str, dict[str, Any]] = {"conversations": DIALOGUE, "solutions": DIALOGUE}
"""Name of a configuration on the Hub, and of its `.jsonl` file, to its columns."""


def load_file(folder: Path, name: str) -> Dataset:
    """A data file of `folder`, such as "conversations", as a `datasets.Dataset` with the values that are in it."""
    from datasets import load_dataset

    path = str(folder / f"{name}.jsonl")
    return load_dataset("json", data_files=path, features=features(FILES[name]), split="train")


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
