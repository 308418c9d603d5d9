"""A run folder is new, resumes, is finished, or holds another run, which would be refused."""

from __future__ import annotations

import pytest

from eval.checks.finding import examine
from eval.checks.run_folder import folder_check

SELECTION = {"seed": 0, "tasks": {}}


@pytest.mark.parametrize(
    ("finish", "protocol", "status", "told"),
    [
        (False, {}, "pass", "resumes"),
        (True, {}, "warn", "finished"),
        (False, {"judge": "another"}, "fail", "another protocol"),
    ],
)
def test_a_folder_with_a_run(make_run, rows_of, finish, protocol, status, told) -> None:
    path = make_run("a", rows_of("gsm8k", 4, 1, right=1), finish)
    import json

    made_with = json.loads((path / "manifest.json").read_text())["protocol"]
    check = folder_check(path, lambda: ({**made_with, **protocol}, SELECTION), ())
    ((_, finding),) = examine([check])
    assert finding.status == status and told in finding.told


def test_a_new_folder(tmp_path) -> None:
    ((_, finding),) = examine([folder_check(tmp_path / "new", lambda: ({}, SELECTION), ())])
    assert finding.status == "pass" and not (tmp_path / "new").exists()
