"""Every text of every evaluation is read; a file that is missing is an error unless it is named as missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_gen.evaluation_texts import KEPT, read_evaluation_texts
from eval import plugin
from eval.config import ConfigError

TASKS = plugin.names("eval.tasks")


def test_every_task_of_the_project_is_known() -> None:
    assert {*KEPT, "pocket"} == set(TASKS)


def test_every_field_with_text_is_read(evaluation_dir: Path, evaluation_texts: dict[str, str]) -> None:
    found = read_evaluation_texts(TASKS, evaluation_dir, "error")
    said = {text for _, text in found.texts}
    for field, text in evaluation_texts.items():
        assert text.replace("<<14*9=126>>", "") in said, field
    assert found.rows == {
        **dict.fromkeys(("coval", "gpqa", "gsm8k", "ifbench", "ifeval"), 1),
        "healthbench": 2,
        "pocket": 100,
    }
    assert not found.missing


def test_rows_have_names_that_tell_no_path(evaluation_dir: Path) -> None:
    names = {row for row, _ in read_evaluation_texts(TASKS, evaluation_dir, "error").texts}
    assert {"gsm8k test row 0", "gpqa diamond row 0", "healthbench row 1", "pocket_math row 39"} < names
    assert not any("/" in name for name in names)


def test_a_missing_file_stops_the_run_unless_it_may_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"leak_check: no local file .*ifeval.*leak_check\.missing: warn"):
        read_evaluation_texts(["pocket", "ifeval"], tmp_path, "error")
    found = read_evaluation_texts(["pocket", "ifeval"], tmp_path, "warn")
    assert found.rows == {"pocket": 100}
    assert found.missing["ifeval"].startswith("no local file")


def test_a_damaged_file_is_no_missing_file(tmp_path: Path) -> None:
    (tmp_path / "ifeval").mkdir()
    (tmp_path / "ifeval/input_data.jsonl").write_text('{"prompt": 3.5}\n')
    with pytest.raises(ConfigError, match=r"leak_check: .*line 1"):
        read_evaluation_texts(["ifeval"], tmp_path, "warn")
