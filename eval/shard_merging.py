"""Makes the run folder of a whole run from those of its shards: all rows in the order of the data.

Rows are copied unchanged and appended one at a time, so a killed merge resumes, and repeating a merge after a shard has
retried its failed rows adds only the new rows.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.config import ConfigError, validate
from eval.dialogue import Dialogue, content_hash
from eval.finished_runs import read_run
from eval.probe_config import ProbeConfig
from eval.probe_parts import row_key
from eval.probe_run import complete, open_rows
from eval.rows import RowStore, keyed_rows
from eval.run_dir import RunDir
from eval.shard import ShardRows, interleaved, read_shard
from eval.summary import TaskSummary
from eval.table import Table

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Part:
    """One finished shard."""

    folder: Path
    rows: ShardRows
    manifest: dict[str, Any]


def merge(folders: Sequence[Path], out: Path) -> tuple[list[TaskSummary], list[Table]]:
    """Complete the run folder `out` with the rows of all shards; returns their summaries and tables.

    Raises:
        ConfigError: a shard is missing, unfinished, given twice or of another protocol, or `out` holds another run.
    """
    parts = [_read_part(folder) for folder in folders]
    order = interleaved([part.rows for part in parts])
    first = parts[0]
    for part in parts[1:]:
        for what in ("protocol", "selection"):
            if part.manifest[what] != first.manifest[what]:
                raise ConfigError(
                    f"{first.folder} and {part.folder} differ in their {what}; they are not shards of one run"
                )
    if out.resolve() in {folder.resolve() for folder in folders}:
        raise ConfigError(f"--out {out} is one of the shards; give another folder for the merged run")
    protocol, selection = first.manifest["protocol"], first.manifest["selection"]
    config = validate(ProbeConfig, {**first.manifest["config"], "shard": None, "run_dir": out})
    with RunDir(out, config, protocol, selection) as run, open_rows(out / "rows.jsonl") as rows:
        run.measured |= {"shards": {str(part.folder): part.manifest["sessions"] for part in parts}}
        run.measured |= {"spent_by_shards": {str(part.folder): part.manifest.get("spent", {}) for part in parts}}
        run.measured |= {what: first.manifest["sessions"][-1].get(what, {}) for what in ("data_files", "training")}
        _copy_rows(parts, order, content_hash(protocol), rows)
        _copy_turns(parts, out)
        return complete(run, config, protocol, rows)


def _read_part(folder: Path) -> Part:
    if "*" in folder.name and not folder.exists():  # a pattern that the shell could not expand
        raise ConfigError(f"no folder matches {folder}; make the shards with eval.probe --shard I/N")
    read_run(folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return Part(folder, read_shard(folder), manifest)


def _copy_rows(parts: Sequence[Part], order: Sequence[tuple[int, str]], protocol_sha: str, rows: RowStore) -> None:
    with ExitStack() as stack:
        stores = [stack.enter_context(open_rows(part.folder / "rows.jsonl")) for part in parts]
        for place, id in order:
            key = row_key(protocol_sha, id)
            try:
                row = stores[place].get(key)
            except KeyError:
                raise ConfigError(f"{parts[place].folder} lacks its row {id}; run the shard again") from None
            _append_if_newer(rows, key, row)
        if more := sum(map(len, stores)) - len(order):
            logger.warning("left out %d rows of the shards that were made with earlier settings", more)
    if more := len(rows) - len(order):
        logger.warning("the folder has %d rows of this protocol from earlier settings, which are counted too", more)


def _copy_turns(parts: Sequence[Part], out: Path) -> None:
    """Copy the generated turns, so that a row whose judgement failed can be judged again without the model."""
    with open_rows(out / "turns.jsonl") as turns:
        for part in parts:
            for key, turn in keyed_rows(part.folder / "turns.jsonl"):
                _append_if_newer(turns, key, turn)


def _append_if_newer(store: RowStore, key: str, row: Dialogue) -> None:
    """Append a row that `store` lacks or has differently; a failure does not replace a result."""
    if key not in store or (store.get(key) != row and (row.failure is None or store.missing(key))):
        store.append(key, row)
