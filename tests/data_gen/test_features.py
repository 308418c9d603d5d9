"""Values of a data file round-trip through `datasets`; with the card's header alone, all but a column of dates do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from data_gen.features import DIALOGUE, FILES, REJECT, features, header_features, load_file
from data_gen.filter_context import Reason
from data_gen.filtering import Reject
from data_gen.leaks import LEAK
from eval.dialogue import Dialogue, Failure, Judgement, Message

TRAPS = [
    "007",
    "42",
    "true",
    "null",
    "1e3",
    "2024-01-02",
    "2024-01-02T03:04:05Z",
    "",
    "  ",
    "NaN",
    str(2**63),
    "[1, 2]",
]


def rows(name: str = "conversations") -> list[dict[str, Any]]:
    """Every problematic value in every field, with optional fields present and absent."""
    first = [
        Dialogue(
            "collab",
            (Message("user", text), Message("assistant", text, "t-1", "stop", 7, reasoning=text)),
            reference=text,
            meta={"text": text, "number": 7, "nested": {"list": ["007", None, True], text or "empty": 1.5}},
        )
        for text in TRAPS
    ]
    judged = replace(first[0], judgement=Judgement("other", True, "j", "007", "abc", 3, 0.25), correct=True)
    failed = replace(first[1], failure=Failure("judge", "timeout", "2024-01-02"), meta={"text": 7, "nested": "true"})
    every = [*first, judged, failed, Dialogue("collab", ())]
    made = [one.to_json() for one in every]
    if name == "rejects":
        reasons = [Reason(LEAK if number % 2 else "007", text) for number, text in enumerate([*TRAPS, "x", "y", "z"])]
        made = [Reject(one, "read", reason).to_json() for one, reason in zip(every, reasons, strict=True)]
    return json.loads(json.dumps(made))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set folder with those rows; the library's cache is next to it."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "set"
    folder.mkdir()
    for name in FILES:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(name))
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", FILES)
def test_values_keep_their_type(folder: Path, name: str) -> None:
    assert list(load_file(folder, name)) == rows(name)


def test_the_header_of_a_card_says_the_same(folder: Path) -> None:
    from datasets import load_dataset

    configs = [{"config_name": name, "data_files": f"{name}.jsonl"} for name in FILES]
    info = [{"config_name": name, "features": header_features(columns)} for name, columns in FILES.items()]
    header = yaml.safe_dump({"configs": configs, "dataset_info": info}, sort_keys=False)
    (folder / "README.md").write_text(f"---\n{header}---\n# x\n")
    loaded = load_dataset(str(folder), "conversations", split="train")
    assert loaded.features == features(DIALOGUE)
    date = rows()[-2]["failure"] | {"detail": "2024-01-02 00:00:00"}  # a column of dates alone: not ours to mend
    assert list(loaded) == [row | {"failure": row["failure"] and date} for row in rows()]
    rejects = load_dataset(str(folder), "rejects", split="train")
    assert rejects.features == features(REJECT)
    assert [row["messages"] for row in rejects] == [row["messages"] for row in rows("rejects")]
    assert {row["reason"] for row in rejects} == {LEAK, "007"} and rejects[0]["detail"] == "007"


def test_the_columns_are_those_of_a_dialogue() -> None:
    row = rows()[-3]
    assert DIALOGUE.keys() == row.keys()
    assert DIALOGUE["judgement"].keys() == row["judgement"].keys()
    assert DIALOGUE["messages"][0].keys() == row["messages"][0].keys()
    assert DIALOGUE["failure"].keys() == rows()[-2]["failure"].keys()
    assert list(REJECT) == list(rows("rejects")[0])
