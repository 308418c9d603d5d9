"""The command: its exit status, and that it names the cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eval.dialogue import Dialogue
from eval.recompute import main
from eval.table2 import main as table2

MakeRun = Callable[..., Path]
RowsOf = Callable[..., list[Dialogue]]


def test_it_ends_with_0_with_1_and_the_cell_or_with_2(
    make_run: MakeRun, rows_of: RowsOf, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main([str(out)]) == 2
    assert "make it with `eval.table2`" in capsys.readouterr().err
    base = make_run("base", rows_of("pocket_math", 20, 3, right=5, model="m@0"), called="Base", model="m@0")
    new = make_run("new", rows_of("pocket_math", 20, 9, right=7, model="m@1"), called="New", model="m@1")
    assert table2([str(base), str(new), "--out", str(out)]) == 0
    capsys.readouterr()
    assert main([str(out)]) == 0
    assert "files recomputed from 40 rows: no differences" in capsys.readouterr().out
    path = out / "table2.json"
    path.write_text(path.read_text().replace('"value": 45.0', '"value": 46.0', 1))
    assert main([str(out)]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("table2.json: Table 2: models side by side / New / pocket math follow-up %: written")
    assert printed[-1].endswith(": 1 difference")
