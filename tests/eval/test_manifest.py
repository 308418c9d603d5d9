"""The manifest records what matters and never a secret."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from eval import manifest


def test_variables_that_look_like_secrets_are_never_recorded() -> None:
    secret = {
        "HF_TOKEN": "x",
        "HF_HUB_TOKEN": "x",
        "USERTURN_OPENAI_API_KEY": "x",
        "SLURM_JWT_AUTH": "x",
        "TORCH_password": "x",
        "NCCL_SECRET": "x",
        "HF_ENDPOINT": "https://me:word@mirror.example",
        "HF_HOME": "/cache/hf_abcdefghijkl",
        "WANDB_API_KEY": "x",
        "HOME": "/home/me",
    }
    kept = {"OMP_NUM_THREADS": "2", "TOKENIZERS_PARALLELISM": "false", "SLURM_JOB_ID": "7", "HF_HUB_OFFLINE": "1"}
    assert manifest.environment({**secret, **kept}) == kept


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", *arguments], check=True)


def test_the_state_of_the_code_names_commit_and_change(tmp_path: Path) -> None:
    assert manifest.git_state(tmp_path) == {"commit": None, "dirty_sha256": None, "diff": None}
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("one\n")
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "-qm", "one")
    clean = manifest.git_state(tmp_path)
    assert clean["commit"] is not None and len(clean["commit"]) == 40
    assert clean["dirty_sha256"] is None
    (tmp_path / "a.py").write_text("two\n")
    changed = manifest.git_state(tmp_path)
    assert changed["commit"] == clean["commit"]
    assert "+two" in (changed["diff"] or "")
    (tmp_path / "b.py").write_text("new\n")
    with_new = manifest.git_state(tmp_path)
    (tmp_path / "b.py").write_text("newer\n")
    states = {state["dirty_sha256"] for state in (changed, with_new, manifest.git_state(tmp_path))}
    assert len(states) == 3 and None not in states


@pytest.mark.parametrize("inside", [".", "vendored/userturn"])
def test_the_settings_of_a_site_are_no_change_of_the_code_and_stay_out_of_the_diff(tmp_path: Path, inside: str) -> None:
    """They may hold a proxy with its password."""
    project = tmp_path / inside
    (project / "slurm").mkdir(parents=True)
    for name in ("a.py", "slurm/env.sh"):
        (project / name).write_text("one\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    (project / "slurm/env.sh").write_text("https_proxy=http://me:word@proxy\n")
    site = manifest.git_state(project)
    assert (site["dirty_sha256"], site["diff"]) == (None, "")
    (project / "a.py").write_text("two\n")
    both = manifest.git_state(project)
    assert "+two" in (both["diff"] or "") and "word" not in (both["diff"] or "")
    assert "slurm/env.sh differs too" in (both["diff"] or "")
    (project / "slurm/env.sh").write_text("one\n")
    alone = manifest.git_state(project)
    assert alone["dirty_sha256"] == both["dirty_sha256"] and "env.sh" not in (alone["diff"] or "")
    (tmp_path / "noted.diff").write_text(both["diff"] or "")
    git(tmp_path, "apply", "--reverse", "noted.diff")
    assert (project / "a.py").read_text() == "one\n"


def test_packages_and_hardware_are_told() -> None:
    assert manifest.packages()["pydantic"].startswith("2.")
    told = manifest.hardware()
    assert told["cores"] >= 1 and told["memory_gib"] > 0 and told["processor"]


def test_a_missing_git_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert manifest.git_state(tmp_path)["commit"] is None
