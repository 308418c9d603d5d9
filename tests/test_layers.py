"""Arrows point down: who may import whom, and what an import may cost."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

LAYERS = {"eval": set(), "data_gen": {"eval"}, "train": {"eval"}}
"""The packages of the project, each with those that it stands on."""

PLUGINS = ("formats", "tasks", "engines", "judges", "tables", "figures")
GROUND = ("eval.dialogue", "eval.plugin")
HEAVY = ["torch", "transformers", "vllm", "wandb", "datasets", "openai", "matplotlib", "numpy", "scipy", "statsmodels"]


def modules(repository: Path) -> dict[str, Path]:
    """Dotted name -> file, of every module of the project's packages."""
    files = [path for layer in LAYERS for path in (repository / layer).rglob("*.py")]
    return {
        ".".join(path.relative_to(repository).with_suffix("").parts).removesuffix(".__init__"): path for path in files
    }


def imports(path: Path) -> set[str]:
    """Every module that a file imports, anywhere in it; `from a import b` names both `a` and `a.b`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_packages_import_only_what_they_stand_on(repository: Path) -> None:
    for name, path in modules(repository).items():
        layer = name.split(".")[0]
        above = {other for other in imports(path) if other.split(".")[0] in LAYERS.keys() - LAYERS[layer] - {layer}}
        assert not above, f"{name} imports {above}"


@pytest.mark.parametrize("name", GROUND)
def test_the_ground_floor_needs_the_standard_library_alone(repository: Path, name: str) -> None:
    used = {other.split(".")[0] for other in imports(modules(repository)[name])}
    assert used <= sys.stdlib_module_names


def test_no_import_goes_in_a_circle(repository: Path) -> None:
    files = modules(repository)
    graph = {name: (imports(path) & files.keys()) - {name} for name, path in files.items()}
    try:
        assert list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_plugins_know_neither_each_other_nor_the_probe(repository: Path) -> None:
    for name, path in modules(repository).items():
        parts = name.split(".")
        if len(parts) == 3 and parts[1] in PLUGINS:
            folders = {f"eval.{folder}" for folder in PLUGINS if folder != parts[1]}
            up = {other for other in imports(path) if other.startswith((*folders, "eval.probe", "eval.stages"))}
            assert not up, f"{name} imports {up}"


def test_the_client_of_a_server_knows_no_judge(repository: Path) -> None:
    for name, path in modules(repository).items():
        if name.startswith("eval.client"):
            up = {other for other in imports(path) if other.startswith(("eval.judge", "eval.model_judge"))}
            assert not up, f"{name} imports {up}"


def test_importing_everything_loads_nothing_heavy(repository: Path) -> None:
    code = f"""
import importlib, sys
for name in {sorted(modules(repository))!r}:
    importlib.import_module(name)
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
