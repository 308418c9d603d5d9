"""Whether the model's files are present and complete. Downloads nothing: a compute node may have no network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from eval.checks.finding import Check, Finding, passed
from eval.config import ConfigError
from eval.weights import HUB_ID, LOCAL_STARTS, check_model_folder, model_folder, weight_files

if TYPE_CHECKING:
    from transformers import PretrainedConfig


def local_folder(model: str, revision: str | None) -> Path:
    """The folder of `model`, on disk or in the Hub's cache.

    Raises:
        ConfigError: there is none, or some of its files are missing.
    """
    if Path(model).expanduser().is_dir() or not HUB_ID.fullmatch(model) or model.startswith(LOCAL_STARTS):
        return model_folder(model, revision)
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(model, revision=revision, local_files_only=True))
    except OSError as error:
        at = f" --revision {revision}" if revision else ""
        raise ConfigError(
            f"no folder {model} here, and the Hub's cache on this machine has no model {model}; where there is a "
            f"network run `hf download {model}{at}`, or set HF_HOME to the cache that has it"
        ) from error
    check_model_folder(folder)
    return folder


def model_check(folder: Callable[[], Path]) -> Check:
    """The check "model"; `folder` finds the files."""

    def look() -> Finding:
        found = folder()
        settings = model_settings(found)
        kind = ", ".join(settings.architectures or [settings.model_type])
        return passed(f"{found}: {kind}, {gigabytes(weights_bytes(found))} of weights")

    return Check("model", look)


def model_settings(folder: Path) -> PretrainedConfig:
    """The configuration of the model in `folder`.

    Raises:
        ConfigError: this version of transformers does not support it.
    """
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{folder}/config.json: {error}; the pins of pyproject.toml say which transformers"
        ) from error


def weights_bytes(folder: Path) -> int:
    """Size of the weight files."""
    return sum(path.stat().st_size for path in weight_files(folder))


def gigabytes(size: float) -> str:
    """A size in bytes as text in GB."""
    return f"{size / 1e9:.2f} GB" if size < 1e10 else f"{size / 1e9:,.0f} GB"
