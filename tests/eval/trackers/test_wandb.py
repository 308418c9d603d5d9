"""What the real client of Weights & Biases keeps offline, read back from its files."""

from __future__ import annotations

import logging
import os
import runpy
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval.config import ConfigError, Plugin
from eval.tracker import TABLE_ROWS, Content, TrackedRun, open_tracker

pytest.importorskip("wandb")
OfflineRuns = runpy.run_path(str(Path(__file__).with_name("wandb_file.py")))["OfflineRuns"]
DATA, MODEL = Content("dataset", "ab" * 32, "data/x.jsonl"), Content("model", "cd" * 32, "runs/x/model")


@pytest.fixture(autouse=True)
def no_key(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("WANDB_DATA_DIR", "")  # so that it is put back
    for name in ("WANDB_DATA_DIR", "WANDB_API_KEY", "WANDB_MODE", "WANDB_RUN_GROUP", "WANDB_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))


def tracker(folder: Path, kind="sft", name="SFT", **options):
    options.setdefault("project", "p")
    folder.mkdir(exist_ok=True)
    return open_tracker(Plugin(name="wandb", **options), TrackedRun(name, kind, folder, {"seed": 7}))


def test_two_preemptions_lose_no_step_and_stay_one_run(tmp_path, caplog) -> None:
    """A resumed run makes the steps after its checkpoint once more; on wandb's own step axis they would be dropped."""
    with caplog.at_level(logging.WARNING):
        for steps in ((1, 2, 3), (2, 3, 4), (3, 4, 5)):
            opened = tracker(tmp_path)
            for step in steps:
                opened.log(step, {"train": {"loss": 1 / step, "unknown": None}, "probe": {"gsm8k": {"genuine": 0.5}}})
            opened.close()
            second = int(time.time())
            while int(time.time()) == second:  # wandb names the folder of a run by it
                time.sleep(0.02)
    offline = OfflineRuns(tmp_path)
    assert {run.run_id for run in offline.runs} == {(tmp_path / "wandb_run_id").read_text().strip()}
    steps = [line["train/global_step"] for line in offline.history if "train/loss" in line]
    assert steps == [1, 2, 3, 2, 3, 4, 3, 4, 5]
    assert offline.axes["*"] == "train/global_step" and offline.axes["train/global_step"] == ""
    assert {"train/loss", "probe/gsm8k/genuine"} <= offline.metrics and "train/unknown" not in offline.metrics
    assert caplog.messages[-1] == f"metrics were kept offline; send them with `wandb sync {tmp_path}/wandb`"
    assert len(offline.files) == 3  # of which `wandb sync` finds those that it has not sent yet


@pytest.mark.parametrize("kind", ["data_gen", "sft", "rl", "eval"])
def test_runs_are_grouped_by_experiment_and_typed_by_kind(tmp_path, kind, monkeypatch) -> None:
    monkeypatch.setenv("WANDB_RUN_GROUP", "from the job")
    tracker(tmp_path / "a", kind).close()
    tracker(tmp_path / "b", kind, group="ours").close()
    (first,), (second,) = OfflineRuns(tmp_path / "a").runs, OfflineRuns(tmp_path / "b").runs
    assert (first.run_group, first.job_type, first.display_name, first.project) == ("from the job", kind, "SFT", "p")
    assert second.run_group == "ours"


def test_a_table_has_a_fixed_size_at_most(tmp_path) -> None:
    opened = tracker(tmp_path)
    for step in (1, 2):
        opened.table(step, "episodes", ("step", "text"), [[step, "Why 12?"]] * (3 * TABLE_ROWS))
    opened.close()
    sizes = [line["episodes/nrows"] for line in OfflineRuns(tmp_path).history if "episodes/nrows" in line]
    assert sizes == [TABLE_ROWS] * 2


def test_data_model_and_evaluation_are_joined_by_what_they_hold(tmp_path) -> None:
    """The same content has the same name and bytes in the runs that make and use it, wherever it lies."""
    made = tracker(tmp_path / "data", "data_gen")
    made.made([DATA])
    made.close()
    trained = tracker(tmp_path / "sft", "sft")
    trained.used([Content("dataset", DATA.digest, "/scratch/copy.jsonl")])
    trained.made([MODEL])
    trained.close()
    measured = tracker(tmp_path / "eval", "eval")
    measured.used([MODEL])
    measured.close()
    data, sft, probe = (OfflineRuns(tmp_path / name) for name in ("data", "sft", "eval"))
    assert data.made == sft.used == {"dataset-abababababab"} and data.used == set()
    assert sft.made == probe.used == {"model-cdcdcdcdcdcd"} and probe.made == set()
    digests = [{a.name: a.digest for a in runs.artifacts} for runs in (data, sft, probe)]
    assert digests[0]["dataset-abababababab"] == digests[1]["dataset-abababababab"]
    assert digests[1]["model-cdcdcdcdcdcd"] == digests[2]["model-cdcdcdcdcdcd"]
    assert {a.type for a in sft.artifacts} == {"dataset", "model"}


def test_files_of_the_run_are_kept_with_it(tmp_path) -> None:
    (tmp_path / "config.yaml").write_text("a: 1\n")
    opened = tracker(tmp_path, "eval")
    opened.files([tmp_path / "config.yaml", tmp_path / "not-there.json"])
    opened.close()
    (kept,) = OfflineRuns(tmp_path).artifacts
    assert kept.type == "eval_files" and [entry.path for entry in kept.manifest.contents] == ["config.yaml"]
    assert Path(kept.manifest.contents[0].local_path).read_text() == "a: 1\n"
    assert Path(kept.manifest.contents[0].local_path).is_relative_to(tmp_path), "would be lost with the node"


def test_runs_of_one_process_stage_in_their_own_folders(tmp_path, monkeypatch) -> None:
    for name in ("a", "b"):
        opened = tracker(tmp_path / name, "eval")
        opened.files([Path(__file__)])
        opened.close()
        (kept,) = OfflineRuns(tmp_path / name).artifacts
        assert Path(kept.manifest.contents[0].local_path).is_relative_to(tmp_path / name)
    assert "WANDB_DATA_DIR" not in os.environ
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path / "chosen"))
    tracker(tmp_path / "c", "eval").close()
    assert os.environ["WANDB_DATA_DIR"] == str(tmp_path / "chosen")


def test_the_id_comes_back_with_a_checkpoint_alone(tmp_path) -> None:
    checkpoint = tmp_path / "checkpoints" / "checkpoint-5"
    checkpoint.mkdir(parents=True)
    (checkpoint / "wandb_run_id").write_text("0123456789abcdef\n")
    opened = tracker(tmp_path)
    opened.close()
    assert opened.id == "0123456789abcdef" == (tmp_path / "wandb_run_id").read_text().strip()


def test_an_artifact_that_cannot_be_kept_stops_nothing(tmp_path, caplog) -> None:
    opened = tracker(tmp_path)
    opened.made([Content("model", "/" * 12, "x")])  # a name that wandb refuses
    opened.log(1, {"a": 1})
    opened.close()
    assert any("wandb could not save the artifact" in message for message in caplog.messages)
    assert "a" in OfflineRuns(tmp_path).metrics


def test_a_value_that_cannot_be_encoded_is_left_out_and_the_others_are_logged(tmp_path, caplog) -> None:
    opened = tracker(tmp_path)
    for step in (1, 2):
        opened.log(step, {"loss": 0.5, "odd": object(), "rate": 0.25})
    opened.log(3, {"odd": object()})
    opened.log(4, {"loss": 0.5, "odd": 1.0})
    opened.close()
    history = OfflineRuns(tmp_path).history
    for name, steps in {"loss": [1, 2, 4], "rate": [1, 2], "odd": [4]}.items():
        assert [line["train/global_step"] for line in history if name in line] == steps
    refused = [message for message in caplog.messages if message.startswith("wandb rejects ")]
    assert refused == ["wandb rejects odd: TypeError: Object of type object is not JSON serializable"]


def test_a_table_may_mix_numbers_and_text_and_one_that_cannot_be_made_stops_nothing(tmp_path, caplog) -> None:
    opened = tracker(tmp_path)
    opened.table(1, "mixed", ("a", "b"), [["x", 1], [2, "y"], [None, 0.5]])
    opened.table(2, "torn", ("a", "b"), [["x"]])
    opened.log(3, {"loss": 0.5})
    opened.close()
    offline = OfflineRuns(tmp_path)
    assert {"mixed/nrows", "loss"} <= offline.metrics and "torn/nrows" not in offline.metrics
    assert [message for message in caplog.messages if message.startswith("wandb could not save the table")]


def test_project_and_group_are_those_given_else_of_the_environment(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("WANDB_PROJECT", "ours")
    tracker(tmp_path / "a", project=None).close()
    tracker(tmp_path / "b", project="given").close()
    (first,), (second,) = OfflineRuns(tmp_path / "a").runs, OfflineRuns(tmp_path / "b").runs
    assert (first.project, first.run_group) == ("ours", "ours")
    assert (second.project, second.run_group) == ("given", "given")


def test_without_wandb_it_says_what_to_do(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ConfigError, match=r"pip install '\.\[train\]'"):
        tracker(tmp_path)


KILLED = """
import os, signal, sys, time
from pathlib import Path
from eval.config import Plugin
from eval.tracker import TrackedRun, open_tracker

opened = open_tracker(Plugin(name="wandb", project="p"), TrackedRun("SFT", "sft", Path(sys.argv[1]), {}))
told = [(path.parent.name, path.read_bytes().split(b"\\0")) for path in Path("/proc").glob("[0-9]*/cmdline")]
me = str(os.getpid()).encode()
(service,) = [int(number) for number, words in told if words[0].endswith(b"wandb-core") and me in words]
os.kill(service, signal.SIGTERM)
time.sleep(1)
for step in range(3):
    opened.log(step, {"loss": 1.0})
    time.sleep(0.2)
opened.close()
print("trained on")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="finds the service in /proc")
def test_a_run_goes_on_without_the_service_which_a_signal_to_a_whole_job_ends(repository: Path, tmp_path: Path) -> None:
    alone = {name: value for name, value in os.environ.items() if name != "WANDB_SERVICE"}
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    done = subprocess.run(command, cwd=repository, env=alone, capture_output=True, text=True, timeout=120)
    assert "trained on" in done.stdout, done.stderr
    assert done.stderr.count("wandb has stopped") == 1


TRACKED = """
import sys
from pathlib import Path
from eval.config import Plugin
from eval.tracker import TrackedRun, open_tracker

open_tracker(Plugin(name="wandb", project="p"), TrackedRun("SFT", "sft", Path(sys.argv[1]), {})).close()
"""


def test_no_code_and_no_diff_of_it_goes_to_the_server_though_an_account_saves_code(
    repository: Path, tmp_path: Path
) -> None:
    """The diff has slurm/env.sh in it, and with it a proxy's password."""
    code, run = tmp_path / "code", tmp_path / "run"
    for folder in (code, run):
        folder.mkdir()
    (code / "a.py").write_text("one\n")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *arguments], cwd=code, check=True)
    (code / "a.py").write_text("two\n")
    alone = {name: value for name, value in os.environ.items() if name != "WANDB_SERVICE"}
    environment = {**alone, "WANDB_SAVE_CODE": "true", "PYTHONPATH": str(repository)}
    subprocess.run([sys.executable, "-c", TRACKED, str(run)], cwd=code, env=environment, check=True, timeout=120)
    assert list(run.rglob("*.wandb")) and not list(run.rglob("*.patch"))
