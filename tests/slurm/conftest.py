"""A real Slurm of two nodes on this machine, in a private folder: munge, slurmctld, two slurmd, two fake GPUs each."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from eval.dialogue import Dialogue, Message

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "sinfo")
NODES = ("0x7f000001", "0x7f000002")
"""Their processes meet at the name of one, and these names are addresses (127.0.0.1 and .2) that need no resolver."""
ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "DEADLINE", "BOOT_FAIL")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"

CONF = """
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={control_port}
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
MailProg=/bin/true
SwitchType=switch/none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
ReturnToService=2
KillWait=20
KillOnBadExit=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
MinJobAge=3600
FirstJobId={first_job}
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName={nodes} NodeHostname={host} NodeAddr=127.0.0.1 Port=[{ports}] CPUs=64 RealMemory=1000000 Gres=gpu:2
PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=120
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=2
"""


@dataclass(frozen=True)
class Cluster:
    """The commands of a user of the cluster."""

    folder: Path
    environment: dict[str, str]
    repository: Path
    nodes: tuple[str, ...] = NODES
    restarts: dict[str, int] = field(default_factory=dict)
    """How often each job was started again, as far as this object has seen to it."""

    def run(self, *command: str | Path, check: bool = True) -> str:
        """What a command prints, run at the root of the repository."""
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.repository,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def submit(self, *command: str | Path) -> str:
        """Submit a job file with its arguments; returns the id."""
        return self.run("sbatch", "--parsable", *command)

    def show(self, job: str) -> dict[str, str]:
        """The fields of a job (`scontrol show job`)."""
        words = self.run("scontrol", "--oneliner", "show", "job", job).splitlines()[0].split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def states(self, job: str) -> list[str]:
        """The state of a job, or of every task of an array."""
        lines = self.run("scontrol", "--oneliner", "show", "job", job).splitlines()
        return [
            word.removeprefix("JobState=") for line in lines for word in line.split() if word.startswith("JobState=")
        ]

    def wait(self, job: str, until: Callable[[], bool], what: str) -> None:
        """Wait until something holds; a failure shows the job and the end of its output."""
        deadline = time.monotonic() + 600
        while not until():
            ended = all(state in ENDED for state in self.states(job))
            assert until() or not (ended or time.monotonic() > deadline), (
                f"job {job}: not {what}\n{self.described(job)}"
            )
            time.sleep(0.1)

    def end(self, job: str) -> str:
        """The state that a job ends in; several tasks of an array have theirs joined with commas."""
        self.wait(job, lambda: all(state in ENDED for state in self.states(job)), "ended")
        return ",".join(sorted(set(self.states(job))))

    def completes(self, *jobs: str) -> None:
        """Wait for jobs that must complete."""
        for job in jobs:
            assert self.end(job) == "COMPLETED", self.described(job)

    def wait_for(self, job: str, state: str) -> None:
        """Wait until a job is in a state."""
        self.wait(job, lambda: self.states(job) == [state], state)

    def start_again(self, job: str) -> None:
        """Wait until a job is in the queue once more, and start it: Slurm would hold it for two minutes."""
        before = self.restarts.get(job, 0)

        def started() -> bool:
            now = self.show(job)
            if int(now["Restarts"]) > before and now["JobState"] == "PENDING":
                if now["Reason"] == "launch_failed_requeued_held":  # its node still had a process of it
                    self.run("scontrol", "update", "nodename=ALL", "state=resume", check=False)
                    self.run("scontrol", "release", job, check=False)
                self.run("scontrol", "update", f"jobid={job}", "StartTime=now", check=False)
            return int(now["Restarts"]) > before and now["JobState"] in ("RUNNING", *ENDED)

        self.wait(job, lambda: int(self.show(job)["Restarts"]) > before, "requeued")
        self.restarts[job] = before + 1
        self.wait(job, lambda: not self.run("squeue", "-h", "--states=completing"), "gone from its nodes")
        self.wait(job, lambda: not _step_daemons(self.show(job)["JobId"]), "without a daemon of its steps")
        time.sleep(2)  # a node refuses the credential of a start in the second in which it has ended the job
        self.wait(job, started, "started again")

    def preempt(self) -> str:
        """Submit a job that needs all GPUs, and that jobs of the default partition must make room for."""
        return self.submit("--partition=urgent", "--nodes=2", "--gpus-per-node=2", "--mem=1G", "--wrap", "sleep 1")

    def fail_node(self, job: str) -> None:
        """Let the first node of a job fail, which ends the job there, and come back."""
        node = self.show(job)["BatchHost"]
        self.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")
        self.wait_for(job, "PENDING")
        self.end_processes_of(job)
        self.run("scontrol", "update", f"nodename={node}", "state=resume", check=False)  # unless it is back by itself

    def end_processes_of(self, job: str) -> None:
        """Kill what a job has left on a node, as a node that fails does: its steps and all that they have started."""
        ours = f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()
        while steps := [path for path in Path("/proc").glob("[0-9]*") if _is_of(path, job, ours)]:
            for path in steps:
                with suppress(ProcessLookupError):
                    os.kill(int(path.name), signal.SIGKILL)
            time.sleep(0.1)

    def output(self, job: str) -> str:
        """What a job has printed so far, over all its starts."""
        return "".join(path.read_text(errors="replace") for path in sorted(self.folder.glob(f"*-{job}.out")))

    def described(self, job: str) -> str:
        """All about a job, for a failure."""
        shown = self.run("scontrol", "show", "job", job, check=False)
        logs = sorted(self.folder.glob(f"*{job}*.out"))
        return "\n".join([shown, *(f"{path}:\n{path.read_text(errors='replace')[-6000:]}" for path in logs)])


def _step_daemons(job: str) -> list[Path]:
    """Those of a job in /proc: a node that has one left refuses to start the job again."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if command.read_bytes().startswith(f"slurmstepd: [{job}.".encode()):
                found.append(command)
    return found


def _is_of(process: Path, job: str, ours: bytes) -> bool:
    """Whether a process in /proc is one of a job, by its environment; one that is gone is not."""
    try:
        return {ours, f"SLURM_JOB_ID={job}".encode()} <= set((process / "environ").read_bytes().split(b"\0"))
    except OSError:
        return False


@pytest.fixture(scope="session")
def tiny_model_folder(smollm2_tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama of two small layers."""
    import torch
    from transformers import AutoModelForCausalLM, LlamaConfig

    folder = tmp_path_factory.mktemp("models") / "tiny"
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(LlamaConfig(vocab_size=len(smollm2_tokenizer), **sizes))
    model.save_pretrained(folder)
    smollm2_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def conversations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve conversations of different lengths, as data_gen writes them."""
    path = tmp_path_factory.mktemp("data") / "conversations.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(12):
            turns = (
                Message("user", f"Tom has {number + 7} pens{' and cups' * (number % 4)} and gives 5 away. And now?"),
                Message("assistant", f"He keeps {number + 7} - 5 = {number + 2} pens."),
                Message("user", f"Why do you take 5 from {number + 7} here?"),
            )
            file.write(json.dumps(Dialogue("collab", turns).to_json()) + "\n")
    return path


@pytest.fixture(scope="session")
def cluster(repository: Path) -> Iterator[Cluster]:
    missing = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if missing:
        pytest.skip(f"no {', '.join(missing)}; `make test-system` installs Debian's slurm-wlm and munge, as root")
    if os.geteuid() != 0:
        pytest.skip("a Slurm of our own is started by root alone")
    folder = Path(tempfile.mkdtemp(prefix="userturn-slurm-"))
    folder.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        environment = _environment(folder)
        _make_devices(folder)
        _configure(folder)
        for daemon in _daemons(folder):
            stack.enter_context(_running(daemon, environment, folder))
        cluster = Cluster(folder, environment, repository)
        _wait_for_nodes(cluster)
        stack.callback(_cancel_everything, cluster)
        yield cluster


def _environment(folder: Path) -> dict[str, str]:
    """Of daemons and users: nothing of a Slurm that this process may itself be a job of."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH", "SRUN"))}
    return kept | {
        "PATH": PATH,
        "SLURM_CONF": str(folder / "slurm.conf"),
        "SBATCH_OUTPUT": str(folder / "%x-%j.out"),
        "USERTURN_VENV": sys.prefix,
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }


def _make_devices(folder: Path) -> None:
    try:
        for number in range(2):
            os.mknod(folder / f"gpu{number}", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    except OSError as error:
        pytest.skip(f"this machine lets nobody make a device ({error}), which a GPU of the cluster is")


def _configure(folder: Path) -> None:
    for name in ("state", *(f"spool-{node}" for node in NODES)):
        (folder / name).mkdir(mode=0o755)
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    control_port, *ports = _free_ports(3)
    conf = CONF.format(
        folder=folder,
        host=socket.gethostname().partition(".")[0],
        nodes=",".join(NODES),
        control_port=control_port,
        ports=",".join(map(str, ports)),
        first_job=1 + os.getpid() % 9000,  # ports are made of it, and another such Slurm may run on this machine
    )
    (folder / "slurm.conf").write_text(conf, encoding="utf-8")
    (folder / "gres.conf").write_text(f"Name=gpu File={folder}/gpu[0-1]\n", encoding="utf-8")
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="utf-8")


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for opened in sockets:
            opened.bind(("127.0.0.1", 0))
        return [opened.getsockname()[1] for opened in sockets]


def _daemons(folder: Path) -> list[list[str]]:
    munge = [
        *("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", f"--key-file={folder}/munge.key"),
        *(f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed"),
    ]
    return [munge, ["slurmctld", "-D"], *(["slurmd", "-D", "-N", node] for node in NODES)]


@contextmanager
def _running(command: list[str], environment: dict[str, str], folder: Path) -> Iterator[None]:
    """A daemon in the foreground, ended by its process id."""
    with (folder / f"{command[0]}-{command[-1].rpartition('/')[2]}.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for_nodes(cluster: Cluster) -> None:
    deadline = time.monotonic() + 120
    while (found := cluster.run("sinfo", "-h", "-N", "-p", "gpu", "-o", "%T", check=False).split()) != ["idle"] * len(
        NODES
    ):
        if time.monotonic() > deadline:
            logs = "\n".join(f"{path}: {path.read_text()[-2000:]}" for path in sorted(cluster.folder.glob("*.log")))
            pytest.fail(f"the nodes are {found}, not idle\n{logs}")
        time.sleep(0.2)


def _cancel_everything(cluster: Cluster) -> None:
    """Leave no process behind; a job's processes are no children of this one."""
    cluster.run("scancel", "--user=root", check=False)
    deadline = time.monotonic() + 120
    while cluster.run("squeue", "-h", check=False) and time.monotonic() < deadline:
        time.sleep(0.2)
