"""The kernels of linear attention on a GPU: without them transformers falls back to plain torch, with a warning.

The fallback is correct but more than ten times slower, so on a GPU it is an error unless allowed. Installing only one
of the two packages is not enough, and hides the warning about the other.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from eval.checks.kernels import PACKAGES
from eval.config import ConfigError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def missing_kernels(model: PreTrainedModel) -> list[str]:
    """The packages that fast linear attention needs and that are not installed; none without linear attention."""
    kinds = getattr(model.config.get_text_config(), "layer_types", None) or []
    if "linear_attention" not in kinds:
        return []
    return [name for module, name in PACKAGES.items() if find_spec(module) is None]


def refuse_slow_path(model: PreTrainedModel, allow_slow: bool) -> None:
    """Refuse to train linear attention on a GPU without its kernels, unless `allow_slow` is set.

    Raises:
        ConfigError: kernels are missing; the message says what to install.
    """
    missing = missing_kernels(model)
    if missing and model.device.type == "cuda" and not allow_slow:
        raise ConfigError(
            f"linear attention would run without its kernels, more than ten times slower: pip install "
            f"{' '.join(missing)}, or --allow-slow"
        )
