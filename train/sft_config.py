"""Configuration of a fine-tuning run: trained turns and replay, on top of what all training runs share.

The optimizer's settings are TRL's own: the mapping `trl` goes to `SFTConfig` (`train/trl_arguments.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from eval.config import Config
from train.training_config import TrainingConfig


class Replay(Config):
    """Assistant turns with correct answers, mixed in so that the model keeps answering correctly."""

    path: Path = Field(description="JSONL of dialogues; those graded correct are used, cut after the answer")
    share: float = Field(0.2, gt=0.0, lt=1.0, description="share of the examples that are replay")
    weight: float = Field(1.0, gt=0.0, description="factor on the loss of each of their tokens")


class SftConfig(TrainingConfig):
    """Configuration of `python -m train.sft`."""

    name: str = Field("SFT", description="name of the trained model in tables")
    data: Path = Field(description="JSONL of dialogues, as data_gen writes it")
    train_on: Literal["user", "assistant", "both"] = Field("user", description="whose turns are trained on")
    max_length: int = Field(1024, ge=2, description="tokens; longer examples are left out and counted, never truncated")
    replay: Replay | None = Field(None, description="assistant turns that are mixed in (path, share, weight)")
    global_batch_size: int | None = Field(
        None, ge=1, description="examples per optimizer step over all processes; null: follows from trl's settings"
    )
    trl: dict[str, Any] = Field({}, description="settings of trl's SFTConfig, such as learning_rate")
    seed: int = Field(0, ge=0, description="seed of adapters, dropout, the order of examples and the choice of rows")
    show_mask: bool = Field(False, description="print a few examples with trained tokens marked, and exit")
    dry_run: bool = Field(False, description="print what would be trained, and exit")
