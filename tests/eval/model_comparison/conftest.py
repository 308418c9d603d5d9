"""Run folders of models that were measured on the same rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.dialogue import Dialogue

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


@pytest.fixture
def make_model(make_run: MakeRun, rows_of: RowsOf) -> Callable[..., Path]:
    """(name, task=(n, genuine, right), ...) -> the run of a model of that name; "_held" marks a held-out task."""

    def make(name: str, *, folder: str | None = None, fields: dict[str, Any] | None = None, **tasks: Any) -> Path:
        rows: list[Dialogue] = []
        model = (fields or {}).get("model", f"Qwen3.5-2B@{name}" if name == "Base" else f"model@{name}")
        for task, (n, genuine, right) in tasks.items():
            bare = task.removesuffix("_held")
            rows += rows_of(bare, n, genuine, right=right, model=model, held_out=bare != task)
        given = {"model": model, "format": "qwen3_5", **(fields or {})}
        return make_run(folder or name.lower(), rows, called=name, **given)

    return make
