"""Opening the chat format of a model folder, and the error if its tokenizer belongs to another family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError, Plugin
from eval.formats.smollm2 import Format
from eval.rendering.model_format import open_chat_format


def test_a_folder_opens_in_its_family(smollm2_tokenizer: Any, tmp_path: Path) -> None:
    smollm2_tokenizer.save_pretrained(tmp_path)
    opened = open_chat_format(tmp_path, Plugin(name="smollm2"), "as_last")
    assert isinstance(opened, Format) and opened.history == "as_last"
    assert open_chat_format(tmp_path, Plugin(name="smollm2")).history == "as_history"


@pytest.mark.parametrize("family", ["harmony", "no_such_family"])
def test_another_family_is_refused_with_the_folder_and_what_to_do(
    smollm2_tokenizer: Any, tmp_path: Path, family: str
) -> None:
    smollm2_tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ConfigError, match=f"model {tmp_path} with format {family}: .*; use the tokenizer"):
        open_chat_format(tmp_path, Plugin(name=family))
