"""Import rules: which package and plugin may import which, and which libraries must load lazily."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

LAYERS = {"eval": set(), "data_gen": {"eval"}, "train": {"eval"}}
"""Package -> the other packages of the project that it may import."""

PLUGINS: dict[str, set[str]] = {
    "eval.engines": set(),
    "eval.figures": set(),
    "eval.formats": set(),
    "eval.judges": set(),
    "eval.tables": set(),
    "eval.tasks": set(),
    "eval.trackers": set(),
    "data_gen.seeds": {"eval.tasks"},
    "data_gen.teachers": set(),
    "train.prompts": {"eval.tasks"},
    "train.rewards": {"eval.tasks"},
}
"""Plugin folder -> the other plugin folders that it may import."""

PROBE = {
    "eval.probe",
    "eval.probe_config",
    "eval.probe_parts",
    "eval.probe_run",
    "eval.resources",
    "eval.stages",
    "eval.sweep",
    "eval.sweep_board",
    "eval.sweep_config",
    "eval.sweep_estimate",
}
GROUND = ("eval.dialogue", "eval.plugin")
HEAVY = ["torch", "transformers", "vllm", "wandb", "datasets", "openai", "matplotlib", "numpy", "scipy", "statsmodels"]


def modules(repository: Path) -> dict[str, Path]:
    """Dotted name -> file, for every module of the project's packages."""
    files = [path for layer in LAYERS for path in (repository / layer).rglob("*.py")]
    found = {
        ".".join(path.relative_to(repository).with_suffix("").parts).removesuffix(".__init__"): path for path in files
    }
    assert LAYERS.keys() | PLUGINS.keys() | PROBE | set(GROUND) <= found.keys()
    return found


def imports(path: Path) -> set[str]:
    """Every module that a file imports at any level; `from a import b` counts as both `a` and `a.b`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_packages_import_only_lower_layers(repository: Path) -> None:
    for name, path in modules(repository).items():
        layer = name.split(".")[0]
        above = {other for other in imports(path) if other.split(".")[0] in LAYERS.keys() - LAYERS[layer] - {layer}}
        assert not above, f"{name} imports {above}"


@pytest.mark.parametrize("name", GROUND)
def test_the_lowest_modules_import_only_the_standard_library(repository: Path, name: str) -> None:
    used = {other.split(".")[0] for other in imports(modules(repository)[name])}
    assert used <= sys.stdlib_module_names


def test_there_are_no_circular_imports(repository: Path) -> None:
    files = modules(repository)
    graph = {name: (imports(path) & files.keys()) - {name} for name, path in files.items()}
    try:
        assert list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_plugins_import_neither_each_other_nor_the_probe(repository: Path) -> None:
    files = modules(repository)
    assert {name for name in files if name.startswith(("eval.probe", "eval.sweep"))} <= PROBE
    for folder, allowed_folders in PLUGINS.items():
        plugins = [name for name in files if name.startswith(f"{folder}.")]
        assert plugins, f"{folder} has no plugin"
        for name in plugins:
            used = imports(files[name])
            others = {other for other in used for other_folder in PLUGINS if is_in(other, other_folder)}
            others -= {other for other in others for allowed in allowed_folders | {folder} if is_in(other, allowed)}
            assert not others | used & PROBE, f"{name} imports {others | used & PROBE}"


def is_in(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def test_every_plugin_folder_is_checked(repository: Path) -> None:
    sources = [path.read_text(encoding="utf-8") for path in modules(repository).values()]
    loaded = {folder for text in sources for folder in re.findall(r'plugin\.(?:load|names)\("([\w.]+)"', text)}
    assert loaded == PLUGINS.keys()


def test_the_api_client_does_not_import_judges(repository: Path) -> None:
    files = {name: path for name, path in modules(repository).items() if is_in(name, "eval.client")}
    assert len(files) > 1
    for name, path in files.items():
        up = {other for other in imports(path) if other.startswith(("eval.judge", "eval.model_judge"))}
        assert not up, f"{name} imports {up}"


def test_importing_every_module_loads_no_heavy_library(repository: Path) -> None:
    code = f"""
import importlib, sys
for name in {sorted(modules(repository))!r}:
    importlib.import_module(name)
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
