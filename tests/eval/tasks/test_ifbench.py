"""IFBench: the headline is prompt-level loose; a row is the same from a JSONL file and from the Hub's parquet."""

from __future__ import annotations

import json
from pathlib import Path

import huggingface_hub
import pyarrow
import pyarrow.parquet
import pytest

from eval.dialogue import Dialogue, Message
from eval.tasks import ifbench

pytestmark = pytest.mark.usefixtures("nltk_data")

ROW = {
    "key": "7",
    "prompt": "Write.",
    "instruction_id_list": ["count:word_count_range", "format:quote_unquote"],
    "kwargs": [{"min_words": 0, "max_words": 3, "N": None}, {"min_words": None, "max_words": None, "N": None}],
}


@pytest.mark.parametrize(
    ("text", "right"), [("so short", True), ("Sure, here it is:\nso short", True), ("way too many words", False)]
)
def test_an_answer_is_right_when_a_variant_of_it_follows_each_instruction(text: str, right: bool) -> None:
    words = {"id": "count:word_count_range", "kwargs": {"min_words": 1, "max_words": 3}}
    dialogue = Dialogue("ifbench", (Message("user", "Write."),), meta={"instructions": [words]})
    assert ifbench.check(dialogue) is None
    assert ifbench.check(dialogue.says(Message("assistant", text, "model", "stop"))) is right


def test_a_row_is_the_same_from_a_local_file_and_from_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ifbench").mkdir()
    (tmp_path / "ifbench" / "IFBench_test.jsonl").write_text(json.dumps(ROW) + "\n")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([ROW]), tmp_path / "hub.parquet")
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda *_, **__: str(tmp_path / "hub.parquet"))
    monkeypatch.delenv("USERTURN_DATA", raising=False)
    (local,), (hub,) = ifbench.load(data_dir=tmp_path), ifbench.load()
    assert local == hub
    assert local.meta["instructions"][0] == {
        "id": "count:word_count_range",
        "kwargs": {"min_words": 0, "max_words": 3},
    }
