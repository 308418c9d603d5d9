"""Every task plugin keeps the contract; the file's name is its registration."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from eval import plugin
from eval.sources import Source

TASKS = plugin.names("eval.tasks")


def test_the_task_folder_holds_only_tasks() -> None:
    assert {"gsm8k", "healthbench", "pocket"} <= set(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_names_its_source(name: str) -> None:
    task = plugin.load("eval.tasks", name)
    assert isinstance(task.VERSION, int)
    assert isinstance(task.SOURCE, Source) and task.SOURCE.licence
    assert "https://" in task.__doc__ or "written for this project" in task.__doc__
    assert task.SOURCE.licence in task.__doc__
    if task.SOURCE.hub_id:
        assert task.SOURCE.hub_id in task.__doc__
        assert task.SOURCE.hub_file
        assert re.fullmatch("[0-9a-f]{40}", task.SOURCE.revision or "") or re.fullmatch(
            "[0-9a-f]{64}", task.SOURCE.sha256 or ""
        )
    else:
        assert all((Path(task.__file__).parent / name).is_file() for name in task.SOURCE.local)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_loads_and_checks(name: str) -> None:
    task = plugin.load("eval.tasks", name)
    parameters = inspect.signature(task.load).parameters
    assert list(parameters)[:3] == ["limit", "seed", "data_dir"]
    assert (parameters["limit"].default, parameters["seed"].default, parameters["data_dir"].default) == (None, 0, None)
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in list(parameters.values())[2:])
    assert list(inspect.signature(task.check).parameters) == ["dialogue"]
    assert inspect.signature(task.load).return_annotation == "list[Dialogue]"
    assert inspect.signature(task.check).return_annotation == "bool | None"


@pytest.mark.parametrize("name", TASKS)
def test_importing_a_task_is_light(name: str) -> None:
    heavy = "{'torch', 'transformers', 'datasets', 'pyarrow', 'huggingface_hub', 'nltk', 'if_verifiable'}"
    code = f"import sys, eval.tasks.{name}; print(sorted(set(sys.modules) & {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_an_unknown_task_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no eval/tasks/gsm9k.py; eval/tasks has .*gsm8k"):
        plugin.load("eval.tasks", "gsm9k")
