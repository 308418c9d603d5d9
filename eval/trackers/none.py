"""No tracker: metrics are in the run folder alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.tracker import Content, TrackedRun


class Tracker:
    """Does nothing."""

    def __init__(self, run: TrackedRun | None = None) -> None: ...

    def log(self, at: float, metrics: Mapping[str, Any]) -> None: ...

    def table(self, at: float, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None: ...

    def used(self, contents: Iterable[Content]) -> None: ...

    def made(self, contents: Iterable[Content]) -> None: ...

    def files(self, paths: Iterable[Path], below: Path | None = None) -> None: ...

    def close(self) -> None: ...
