"""The kernels of linear attention on a GPU: without them transformers falls back, with a warning, to plain torch.

The fallback is right and more than ten times slower, so that on a GPU it is an error unless it is asked for. One of the
two packages alone is not enough, and hides the warning of the other.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from eval.checks.kernels import PACKAGES
from eval.config import ConfigError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def missing_kernels(model: PreTrainedModel) -> list[str]:
    """Packages that the linear attention of `model` would be fast with and that are not installed."""
    kinds = getattr(model.config.get_text_config(), "layer_types", None) or []
    if "linear_attention" not in kinds:
        return []
    return [name for module, name in PACKAGES.items() if find_spec(module) is None]


def refuse_slow_path(model: PreTrainedModel, allow_slow: bool) -> None:
    """Refuse to train linear attention on a GPU without its kernels, unless that is allowed.

    Raises:
        ConfigError: says what to install.
    """
    missing = missing_kernels(model)
    if missing and model.device.type == "cuda" and not allow_slow:
        raise ConfigError(
            f"linear attention would run without its kernels, more than ten times slower: pip install "
            f"{' '.join(missing)}, or --allow-slow"
        )
