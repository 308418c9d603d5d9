"""Every text of every evaluation is read; a missing file is an error unless it is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_gen.evaluation_texts import TEXT_COLUMNS, read_evaluation_texts
from eval import plugin
from eval.config import ConfigError
from eval.grading.answers import INSTRUCTION

TASKS = plugin.names("eval.tasks")


def test_every_set_with_files_is_read_from_them() -> None:
    with_files = {name for name in TASKS if plugin.load("eval.tasks", name).SOURCE.hub_id}
    assert with_files == set(TEXT_COLUMNS)


def test_a_task_without_listed_columns_is_read_through_load(
    evaluation_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(TEXT_COLUMNS, "gsm8k")
    found = read_evaluation_texts(["gsm8k"], evaluation_dir, "error")
    assert found.rows == {"gsm8k": 1}
    texts = [text for _, text in found.texts if text.strip()]
    assert len(texts) == 1 and texts[0].startswith("Ulla weaves 14 baskets") and INSTRUCTION not in texts[0]


def test_every_field_with_text_is_read(evaluation_dir: Path, evaluation_texts: dict[str, str]) -> None:
    found = read_evaluation_texts(TASKS, evaluation_dir, "error")
    texts = {text for _, text in found.texts}
    for field, text in evaluation_texts.items():
        assert text.replace("<<14*9=126>>", "") in texts, field
    counts = {**dict.fromkeys(("coval", "gpqa", "gsm8k", "ifbench", "ifeval"), 1), "healthbench": 2, "pocket": 100}
    assert {name: found.rows[name] for name in counts} == counts and set(found.rows) == set(TASKS)
    assert not found.missing


def test_row_names_contain_no_path(evaluation_dir: Path) -> None:
    names = {row for row, _ in read_evaluation_texts(TASKS, evaluation_dir, "error").texts}
    assert {"gsm8k test row 0", "gpqa diamond row 0", "healthbench row 1", "pocket_math row 39"} < names
    assert not any("/" in name for name in names)


def test_a_missing_file_stops_the_run_unless_it_may_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"leak_check: no local file .*ifeval.*leak_check\.missing: warn"):
        read_evaluation_texts(["pocket", "ifeval"], tmp_path, "error")
    found = read_evaluation_texts(["pocket", "ifeval"], tmp_path, "warn")
    assert found.rows == {"pocket": 100}
    assert found.missing["ifeval"].startswith("no local file")


def test_a_damaged_file_is_not_treated_as_missing(tmp_path: Path) -> None:
    (tmp_path / "ifeval").mkdir()
    (tmp_path / "ifeval/input_data.jsonl").write_text('{"prompt": 3.5}\n')
    with pytest.raises(ConfigError, match=r"leak_check: .*line 1"):
        read_evaluation_texts(["ifeval"], tmp_path, "warn")
