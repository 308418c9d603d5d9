"""What a run has spent on paid requests, over all its processes: `spent.jsonl` in its folder, a line per request.

A line is written when the outcome of a request is known, so killing a process loses at most the requests in
flight. One process at a time writes to a folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from eval.client.chat_reply import Usage
from eval.client.whole_lines import append_line
from eval.config import ConfigError

NAME = "spent.jsonl"
TOKENS = ("input_tokens", "cached_input_tokens", "output_tokens")


class SpendingLog:
    """The requests of one client of a run."""

    def __init__(self, folder: Path, by: str) -> None:
        """Read what earlier processes have spent; nothing is created before the first `append`.

        Args:
            by: name of the client, different for each one that writes to the folder.

        Raises:
            ConfigError: a line can't be read.
        """
        self.path, self._by = folder / NAME, by
        self._file: BinaryIO | None = None
        self.earlier: float = spent_in(folder).get(by, {}).get("dollars") or 0.0
        """US dollars."""

    def append(self, usage: Usage | None, dollars: float | None) -> None:
        """Record one request; once this returns, killing the process does not lose it.

        Args:
            usage: None if the server did not report it.
            dollars: None if no price is known.

        Raises:
            ConfigError: the file cannot be written.
        """
        tokens = usage or Usage(0, 0)
        counts = dict(zip(TOKENS, (tokens.input, tokens.cached, tokens.output), strict=True))
        line = (json.dumps({"by": self._by, "dollars": dollars, **counts}) + "\n").encode()
        try:
            if self._file is None:
                self._file = _opened(self.path)
            append_line(self._file, line)
        except OSError as error:
            raise ConfigError(f"{self.path} can't be written ({error.strerror}); free some space") from error


def spent_in(folder: Path) -> dict[str, dict[str, Any]]:
    """Requests, tokens and US dollars by client; dollars are None for a client without any price.

    Raises:
        ConfigError: a line can't be read.
    """
    found: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(_lines(folder / NAME), start=1):
        try:
            record = json.loads(line)
            by, dollars = record["by"], record["dollars"]
            total = found.setdefault(by, {"requests": 0, **dict.fromkeys(TOKENS, 0), "dollars": None})
            total["requests"] += 1
            for name in TOKENS:
                total[name] += record[name]
            total["dollars"] = total["dollars"] if dollars is None else (total["dollars"] or 0.0) + dollars
        except (ValueError, LookupError, TypeError) as error:
            raise ConfigError(
                f"{folder / NAME} line {number} is not a record of spending; correct it, or delete it and lower the "
                "budget accordingly"
            ) from error
    return {by: {**total, "dollars": total["dollars"] and round(total["dollars"], 9)} for by, total in found.items()}


def _lines(path: Path) -> Iterator[bytes]:
    """The complete lines of a file, if it exists."""
    if path.is_file():
        with path.open("rb") as lines:
            yield from (line for line in lines if line.endswith(b"\n"))


def _opened(path: Path) -> BinaryIO:
    """The file, ready for appending, without a last line that a kill has cut off."""
    file = path.open("ab", buffering=0)
    whole = sum(map(len, _lines(path)))
    if whole < path.stat().st_size:
        file.truncate(whole)
    return file
