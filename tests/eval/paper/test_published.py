"""The published numbers agree with each other and with what is known about the paper's data sets."""

from __future__ import annotations

import pytest

from eval.labels import LABELS
from eval.paper.headings import HEADINGS
from eval.paper.published import PublishedTable, read_paper

PAPER = read_paper()


def test_values_by_model_task_and_temperature() -> None:
    assert PAPER.value("table4", "Qwen3.5-27B", task="gsm8k", measure="genuine", temperature=1.0) == 22.0
    assert PAPER.value("table4", "Qwen3.5-2B", task="ifbench", measure="genuine", temperature=0.7) == 13.3
    assert PAPER.value("table3", "Qwen3.5-2B", task="gsm8k", measure="accuracy", temperature=0.0) == 62.2
    assert PAPER.value("table5", "gpt-oss-20b", task="gpqa_diamond", measure="genuine", temperature=0.0) == 20.7
    assert PAPER.value("table6", "meta_planning", family="GLM-4.7") == 43.0
    truncated = {"task": "gsm8k", "measure": "genuine", "temperature": 0.0, "condition": "truncate"}
    assert PAPER.value("table1", "GLM-4.7", **truncated) == 55.0
    assert PAPER.value("table2", "SFT", task="coval", measure="genuine") == 45.2
    assert PAPER.value("table7", "balanced, mini and gpt-5.4", measure="label kappa") == 0.721


def test_table_2_is_about_one_model() -> None:
    assert {name: table.model for name, table in read_paper().tables.items() if table.model} == {"table2": "Qwen3.5-2B"}


def test_what_the_paper_lacks_is_unknown() -> None:
    assert PAPER.value("table3", "SmolLM2-135M", task="gsm8k", measure="accuracy", temperature=0.0) is None
    assert PAPER.value("table3", "Qwen3.5-2B", task="gsm8k", measure="accuracy", temperature=0.7) is None
    assert PAPER.value("table4", "Qwen3.5-2B", task="ifeval", measure="genuine", temperature=0.0) is None


def test_all_seven_tables_are_there_with_models_tasks_and_labels_that_exist() -> None:
    assert sorted(PAPER.tables) == [f"table{n}" for n in range(1, 8)]
    for name in ("table1", "table3", "table4", "table5"):
        assert set(PAPER.tables[name].rows) <= set(PAPER.models)
    tasks = {column.get("task") for table in PAPER.tables.values() for column in table.columns} - {None}
    assert tasks <= set(HEADINGS) and tasks <= set(PAPER.rows)
    assert set(PAPER.tables["table6"].rows) < set(LABELS)
    assert {column["family"] for column in PAPER.tables["table6"].columns} == set(PAPER.families.values())
    assert len(PAPER.models) == 11


@pytest.mark.parametrize("name", ["table2", "table3", "table4"])
def test_most_rates_are_a_whole_number_of_rows(name: str) -> None:
    """The sizes of the data sets are inferred from the rates; a misread digit would not be a whole number of rows."""
    table = PAPER.tables[name]
    cells = [
        (value, PAPER.rows[column["task"]])
        for values in table.rows.values()
        for column, value in zip(table.columns, values, strict=True)
    ]
    fits = [
        any(round(100 * k / n, 1) == value for k in {int(value * n / 100), int(value * n / 100) + 1})
        for value, n in cells
    ]
    assert all(fits)


def test_tables_3_and_4_agree_at_temperature_0() -> None:
    for model in PAPER.tables["table4"].rows:
        for task in ("gsm8k", "ifbench", "gpqa_diamond"):
            cell = {"task": task, "measure": "genuine", "temperature": 0.0}
            assert PAPER.value("table3", model, **cell) == PAPER.value("table4", model, **cell)


def test_a_table_of_unequal_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="1 values in row a, 2 columns"):
        PublishedTable(({"task": "x"}, {"task": "y"}), {"a": (1.0,)})
    with pytest.raises(ValueError, match="same properties"):
        PublishedTable(({"task": "x"}, {"task": "x"}), {})
