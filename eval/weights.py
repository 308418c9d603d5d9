"""A model folder: where it is, whether it is whole, and a digest that names its content. Loads no weights."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import NamedTuple

from eval.config import ConfigError

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
LOCAL_STARTS = ("/", ".", "~", "models/", "runs/")
WEIGHT_PATTERNS = ("*.safetensors", "pytorch_model*.bin")
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json")
IDENTITY_PATTERNS = (
    "config.json",
    *WEIGHT_PATTERNS,
    "tokenizer*",
    "vocab.json",
    "merges.txt",
    "added_tokens.json",
    "special_tokens_map.json",
    "chat_template*",
)
FETCH_SMALL = "fetch the small real weights with `python -m eval.fetch_smollm2`"


def model_folder(model: str | Path, revision: str | None = None) -> Path:
    """The complete folder of `model`: a local path, or a Hub id such as "Qwen/Qwen3.5-2B" downloaded at `revision`.

    Raises:
        ConfigError: there is no such folder, it cannot be downloaded, or a part of it is missing.
    """
    name = os.fspath(model)
    folder = Path(name).expanduser()
    if folder.is_dir():
        if revision is not None:
            raise ConfigError(f"{folder} is a local folder and has no revision {revision!r}; a Hub id would; drop it")
    elif isinstance(model, Path) or name.startswith(LOCAL_STARTS) or not HUB_ID.fullmatch(name):
        raise ConfigError(f"no model folder {folder}; {FETCH_SMALL}, or give a folder or a Hub id (owner/name)")
    else:
        folder = _download(name, revision)
    check_model_folder(folder)
    return folder


def _download(hub_id: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    wanted = [*IDENTITY_PATTERNS, "*.index.json"]
    try:
        # Below the top folder lie copies for other software ("original/"), which the patterns would match too.
        return Path(snapshot_download(hub_id, revision=revision, allow_patterns=wanted, ignore_patterns=["*/*"]))
    except (OSError, ValueError) as error:
        at = f" at revision {revision}" if revision else ""
        reason = (str(error).strip().splitlines() or ["no detail"])[0]
        raise ConfigError(
            f"no folder {hub_id} here, and the Hub gave no model {hub_id}{at} ({type(error).__name__}: {reason}); "
            f"check the name, the network and `hf auth login`, or {FETCH_SMALL}"
        ) from error


def check_model_folder(folder: Path) -> None:
    """Refuse a folder without configuration, weights (every shard), tokenizer or chat template.

    Raises:
        ConfigError: names the folder, what it lacks and how to get it.
    """
    missing = [
        what
        for what, present in (
            ("config.json", (folder / "config.json").is_file()),
            ("weights (*.safetensors)", bool(weight_files(folder))),
            ("tokenizer (tokenizer.json)", any((folder / name).is_file() for name in TOKENIZER_FILES)),
            ("chat template (chat_template.jinja)", _has_chat_template(folder)),
        )
        if not present
    ]
    missing += [f"shard {name}" for name in _missing_shards(folder)]
    if missing:
        raise ConfigError(
            f"model folder {folder} lacks {', '.join(missing)}; copy the missing files from where the model was saved "
            f"(`save_pretrained` of the model and of its tokenizer writes all of them), or {FETCH_SMALL}"
        )


class Limits(NamedTuple):
    """What the weights can take."""

    context: int
    """Tokens of prompt and completion together."""
    vocabulary: int
    """Tokens that they know."""


def model_limits(folder: Path) -> Limits:
    """The limits that a complete folder's configuration states."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(folder).get_text_config()
    return Limits(config.max_position_embeddings, config.vocab_size)


def weight_files(folder: Path) -> list[Path]:
    """The non-empty weight files of a model folder, sorted by name."""
    found = {path for pattern in WEIGHT_PATTERNS for path in folder.glob(pattern)}
    return sorted(path for path in found if path.is_file() and path.stat().st_size)


def model_digest(folder: Path) -> str:
    """64 hex digits of SHA-256 over names and contents of configuration, weights, tokenizer and chat template.

    `generation_config.json` is not covered, because it is never applied; nor are optimizer states and notes.
    """
    files = sorted({path for pattern in IDENTITY_PATTERNS for path in folder.glob(pattern) if path.is_file()})
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest.update(f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()


def model_id(name: str, folder: Path) -> str:
    """`name` and the first 12 hex digits of the digest of the weights in `folder`: "SmolLM2-135M@0f3a5c7d9e1b"."""
    return f"{name}@{model_digest(folder)[:12]}"


def _has_chat_template(folder: Path) -> bool:
    if (folder / "chat_template.jinja").is_file():
        return True
    return bool(_read_json(folder / "tokenizer_config.json").get("chat_template"))


def _missing_shards(folder: Path) -> list[str]:
    present = {path.name for path in weight_files(folder)}
    shards: set[str] = set()
    for index in folder.glob("*.index.json"):
        shards |= set(_read_json(index).get("weight_map", {}).values())
    return sorted(shards - present)


def _read_json(path: Path) -> dict:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON ({error}); copy it again from where the model was saved") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path} holds a {type(content).__name__}, not an object; copy it again")
    return content
