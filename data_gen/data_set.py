"""The folder of a data set: `conversations.jsonl`, `solutions.jsonl`, `rejects.jsonl`, `README.md`, `manifest.json`.

Each file is written atomically; the manifest, which has the hash of each file, is written last.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from data_gen.dataset_card import card
from data_gen.filtering import Filtered
from data_gen.generation_parts import GenerationParts
from data_gen.seed_filters import is_right
from data_gen.summary import Summary, summarise
from eval import manifest
from eval.data_files import files_read
from eval.dialogue import content_hash
from eval.run_dir import differences, write_atomically

MANIFEST = "manifest.json"
LOCAL_FIELDS = {"data_dir", "out_dir", "report_to", "dry_run", "retry_failed"}
"""Configuration fields that depend on the machine or one call and do not affect the data; the manifest omits them."""


@dataclass(frozen=True)
class DataSet:
    """A data set that has been written."""

    folder: Path
    summary: Summary


def unpublish(folder: Path) -> None:
    """Remove the manifest, which marks the data set as incomplete until a new one is written."""
    (folder / MANIFEST).unlink(missing_ok=True)


def publish(folder: Path, parts: GenerationParts, filtered: Filtered) -> DataSet:
    """Write all files of the data set, the manifest last."""
    solutions = [seed for found in parts.seeds.values() for seed in found if is_right(seed)]
    rejects = [*parts.refused, *filtered.rejects]
    files = {
        "conversations.jsonl": [dialogue.to_json() for dialogue in filtered.kept],
        "solutions.jsonl": [{**seed.to_json(), "correct": True} for seed in solutions],
        "rejects.jsonl": [reject.to_json() for reject in rejects],
    }
    counted = summarise(parts, filtered, {name: len(rows) for name, rows in files.items()})
    hashes = {name: _write(folder / name, _lines(rows)) for name, rows in files.items()}
    hashes["README.md"] = _write(folder / "README.md", card(parts, filtered, counted))
    content = _manifest(parts, counted, hashes)
    write_atomically(folder / MANIFEST, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    return DataSet(folder, counted)


def finished(parts: GenerationParts) -> DataSet | None:
    """The data set in the folder of `parts` if it is complete, unchanged and made from the same inputs; else None."""
    folder = parts.config.folder
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if any(content[name] != value for name, value in json.loads(json.dumps(_inputs(parts))).items()):
            return None
        if any(content["data_files"].get(name, digest) != digest for name, digest in _data_files().items()):
            return None
        for name, entry in content["files"].items():
            if name.endswith(".jsonl") and _sha256((folder / name).read_bytes()) != entry["sha256"]:
                return None
        return DataSet(folder, Summary.from_json(content["summary"]))
    except (OSError, ValueError, KeyError, TypeError):  # not finished, damaged, or written by an earlier version
        return None


def changed_settings(parts: GenerationParts) -> list[str]:
    """A line for each setting in which `parts` differs from the finished data set in its folder; empty without one."""
    now = json.loads(json.dumps(_inputs(parts)))
    others = ("teacher", "judge", "leak_check")
    try:
        there = json.loads((parts.config.folder / MANIFEST).read_text(encoding="utf-8"))
        changed = list(differences(there["config"], now["config"]))
        changed += differences({name: there[name] for name in others}, {name: now[name] for name in others})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # as in `finished`
        return []
    return [line.strip() for line in changed]


def _inputs(parts: GenerationParts) -> dict[str, Any]:
    """What decides the content of a data set, apart from code and `_data_files`."""
    return {
        "teacher": parts.teacher.id,
        "judge": parts.judge.id,
        "leak_check": {"rows": parts.evaluation.rows, "missing": sorted(parts.evaluation.missing)},
        "config": parts.config.model_dump(mode="json", exclude=LOCAL_FIELDS),
        "plans": content_hash([parts.key(plan) for plan in parts.plans]),
    }


def _data_files() -> dict[str, str]:
    """SHA-256 of each file that this process has read seeds or evaluation rows from."""
    return {"/".join(Path(path).parts[-2:]): digest for path, digest in files_read().items()}


def _manifest(parts: GenerationParts, counted: Summary, hashes: Mapping[str, str]) -> dict[str, Any]:
    code = manifest.git_state(Path(__file__).parent)
    return {
        "name": parts.config.name,
        "files": {name: {"sha256": digest, "rows": counted.rows.get(name)} for name, digest in hashes.items()},
        "summary": asdict(counted),
        **_inputs(parts),
        "data_files": _data_files(),
        "git": {"commit": code["commit"], "dirty_sha256": code["dirty_sha256"]},
        "packages": manifest.packages(),
        "python": sys.version.split()[0],
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(_line(row) + "\n" for row in rows)


def _line(row: Mapping[str, Any]) -> str:
    text = json.dumps(row, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate: JSON can escape it, UTF-8 cannot encode it
        return json.dumps(row)
    return text


def _write(path: Path, text: str) -> str:
    """Write `text` to `path` atomically; returns its SHA-256."""
    write_atomically(path, text)
    return _sha256(text.encode())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
