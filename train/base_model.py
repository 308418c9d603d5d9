"""What the parts of an SFT and of an RL run know of the model that training starts from."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from eval.rendering.chat_format import ChatFormat
from eval.weights import model_id
from train.training_config import TrainingConfig

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class OnBaseModel:
    """Mixin of a run's parts."""

    config: TrainingConfig
    folder: Path
    chat_format: ChatFormat

    @property
    def is_local(self) -> bool:
        """Whether the base model is a folder, not a name on the Hub."""
        return self.folder == Path(self.config.model).expanduser()

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        return self.chat_format.tokenizer

    @cached_property
    def model_id(self) -> str:
        """Name and digest of the base model."""
        return model_id(Path(self.config.model).name, self.folder)
