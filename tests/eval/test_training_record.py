"""The record in a trained model folder: it comes back, a folder without one has none, a damaged one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.config import ConfigError
from eval.training_record import FILE, read_training_record, write_training_record


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    assert read_training_record(tmp_path) == {}
    write_training_record(tmp_path, method="grpo", base="model@0123", reward_judge="grounding-1")
    assert read_training_record(tmp_path) == {"method": "grpo", "base": "model@0123", "reward_judge": "grounding-1"}
    write_training_record(tmp_path, method="sft", base="model@0123")
    assert read_training_record(tmp_path)["reward_judge"] is None


@pytest.mark.parametrize("content", ["{", "[]", '"sft"'])
def test_a_file_that_is_no_record_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(ConfigError, match=r"training\.json .*copy it from where the model was saved"):
        read_training_record(tmp_path)
