"""A name is a module of a folder; a miss lists what the folder has."""

from __future__ import annotations

import pytest

from eval import plugin


def test_a_name_is_a_module() -> None:
    assert "table2" in plugin.names("eval.tables")
    assert plugin.load("eval.tables", "table2").__name__ == "eval.tables.table2"


@pytest.mark.parametrize("name", ["table99", "../table", "table2.build", "__init__", ""])
def test_a_miss_lists_what_there_is(name: str) -> None:
    with pytest.raises(ValueError, match=r"no eval/tables/.*\.py; eval/tables has .*table2"):
        plugin.load("eval.tables", name)
