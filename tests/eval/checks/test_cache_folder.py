"""Where paid replies are kept, and who shares them there."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.checks import cache_folder
from eval.checks.cache_folder import cache_checks, file_system
from eval.checks.finding import Finding, examine
from eval.judges.local import Judge as LocalJudge
from eval.judges.openai import Judge

MOUNTS = r"""
rootfs / rootfs rw 0 0
/dev/sda1 / ext4 rw,relatime 0 0
filer:/home /home nfs4 rw,vers=4.2 0 0
tmpfs /home/ann/fast\040disk tmpfs rw 0 0
10.0.0.1@o2ib:/lustre /scratch lustre rw,flock 0 0
"""


@pytest.fixture
def mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that lists the mounts, in place of that of this machine."""
    file = tmp_path / "mounts"
    file.write_text(MOUNTS)
    monkeypatch.setattr(cache_folder, "MOUNTS", file)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    return file


def finding_of(**options) -> Finding:
    ((name, finding),) = examine(cache_checks([("judge", Judge, options)]))
    assert name == "cache of judge"
    return finding


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/ann/.cache/userturn", "nfs4"),
        ("/homes/ann", "ext4"),
        ("/home/ann/fast disk/x", "tmpfs"),
        ("/scratch", "lustre"),
        ("/scratch/../var", "ext4"),
    ],
)
def test_the_file_system_is_that_of_the_longest_mount_point(mounts: Path, path: str, kind: str) -> None:
    assert file_system(Path(path)) == kind


def test_without_a_list_of_mounts_it_is_not_known(mounts: Path) -> None:
    mounts.unlink()
    assert file_system(Path("/home")) is None
    assert finding_of(cache="/").status == "not checked"


def of(kind: str, mounts: Path, tmp_path: Path) -> Finding:
    mounts.write_text(f"disk / {kind} rw 0 0\n")
    return finding_of(cache=str(tmp_path / "new"))


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "lustre", "gpfs", "beegfs", "ceph", "cifs", "fuse.sshfs"])
def test_a_network_file_system_is_shared_by_nodes(mounts: Path, tmp_path: Path, kind: str) -> None:
    finding = of(kind, mounts, tmp_path)
    assert finding.status == "pass" and f"{kind}, a network file system" in finding.told
    assert not (tmp_path / "new").exists()


def test_memory_is_lost(mounts: Path, tmp_path: Path) -> None:
    finding = of("tmpfs", mounts, tmp_path)
    assert finding.status == "warn" and "lost" in finding.told and "USERTURN_CACHE" in finding.todo


def test_a_local_disk_is_shared_by_nobody_on_a_cluster(mounts: Path, tmp_path: Path, monkeypatch) -> None:
    alone = of("ext4", mounts, tmp_path)
    assert alone.status == "pass" and "ext4, a disk of this machine" in alone.told
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    in_a_job = of("ext4", mounts, tmp_path)
    assert in_a_job.status == "warn" and "other nodes" in in_a_job.told and "USERTURN_CACHE" in in_a_job.todo


def test_a_folder_that_cannot_be_used_is_a_failure(mounts: Path, tmp_path: Path, monkeypatch) -> None:
    finding = finding_of(cache=str(mounts))
    assert finding.status == "fail" and "is a file" in finding.told
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert finding_of(cache=str(tmp_path / "new")).status == "fail"


def test_no_cache_is_a_warning(mounts: Path) -> None:
    finding = finding_of(cache=None)
    assert finding.status == "warn" and "memory" in finding.told


def test_the_default_is_looked_at_and_a_judge_without_a_cache_is_not(mounts: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("USERTURN_CACHE", str(tmp_path))
    assert str(tmp_path / "judgements") in finding_of().told
    local, openai = ("judge", LocalJudge, {}), ("judge that rewards", Judge, {})
    assert cache_checks([local]) == []
    assert [check.name for check in cache_checks([local, openai, openai])] == ["cache of judge that rewards"]
    other = ("judge that evaluates", Judge, {"cache": tmp_path / "other"})
    assert [check.name for check in cache_checks([openai, other])] == [
        "cache of judge that rewards",
        "cache of judge that evaluates",
    ]
