"""What a step of reinforcement learning takes over its slowest stage, with a judge that answers after two seconds.

    python benchmarks/rl_step.py [--model FOLDER] [--steps 4]

A server in a process of its own takes 2 s for each reply, `--concurrency` at once. A real trainer plays episodes of two
turns, has the user's turns judged over HTTP, and takes a step; generation, the wait for the judge, and the rest
(log-probabilities, loss, optimizer) are timed apart. Aim: 1.15 of the slowest stage.

Beside it, computed from the same step: what one barrier costs, the whole step generated and then judged, as TRL does
with a reward function that asks for all at once; what a reward function would cost that asks one after the other; and
what streaming could reach at best, each request leaving as its episode ends (a turn of the batch ends at its length's
share of the generation). It asserts nothing.
"""

from __future__ import annotations

import argparse
import heapq
import math
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from eval.dialogue import Dialogue, Message
from eval.formats.smollm2 import Format
from eval.judges.openai import Judge
from train.episodes import Episode
from train.grpo_trainer import make_trainer
from train.reward_judge import RewardJudge
from train.rewards import followup, gsm8k
from train.rollout import Rollout
from train.scoring import RewardFunction, Scored, Scorer
from train.sft_config import Lora
from train.trainer_events import listener
from train.turn_boundary import TurnBoundary

SERVER = Path(__file__).parent.parent / "tests" / "eval" / "client" / "judge_server.py"
LATENCY_S, GROUP = 2.0, 4
AIM = 1.15
PROMPTS = [
    Dialogue("arithmetic", (Message("user", f"A box has {n} pens. How many are in 7 boxes?"),), reference=str(7 * n))
    for n in range(3, 67)
]


class Stages:
    """Seconds of each stage, a list a stage, in the order of the steps; and when the turns of each step ended."""

    def __init__(self) -> None:
        self.now: Counter[str] = Counter()
        self.steps: list[dict[str, float]] = []
        self.ended: list[list[float]] = []
        self._began = 0.0

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.now[name] += time.perf_counter() - started

    def on_step_end(self, *others: Any, **named: Any) -> None:
        ended = time.perf_counter()
        whole, self._began = ended - self._began, ended
        self.now["generation"] = self.now["answers"] + self.now["turns"]
        rest = whole - self.now["generation"] - self.now["judge"]
        self.steps.append({"step": whole, "rest": rest, **self.now})
        self.now.clear()

    def begin(self) -> None:
        self._began = time.perf_counter()


def main() -> None:
    options = arguments()
    with server() as url, tempfile.TemporaryDirectory() as folder:
        stages = Stages()
        trainer = trainer_of(options, url, Path(folder), stages)
        stages.begin()
        trainer.train()
    show(stages, options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model", default="models/SmolLM2-135M-Instruct", help="its tokenizer, and with --real weights"
    )
    parser.add_argument("--real", action="store_true", help="the model's own weights; else a tiny random one")
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--concurrency", type=int, default=16, help="requests to the judge at once")
    parser.add_argument("--tokens", type=int, default=40, help="of a turn at most")
    parser.add_argument("--steps", type=int, default=4, help="the first, which warms up, is left out")
    return parser.parse_args()


def trainer_of(options: argparse.Namespace, url: str, folder: Path, stages: Stages) -> Any:
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig
    from trl import GRPOConfig

    tokenizer: Any = AutoTokenizer.from_pretrained(options.model)
    if options.real:
        model: Any = AutoModelForCausalLM.from_pretrained(options.model, dtype="float32")
    else:
        sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
        model = AutoModelForCausalLM.from_config(LlamaConfig(vocab_size=len(tokenizer), **sizes))
    judge = Judge(
        model="judge", base_url=url, api_key_variable=None, cache=None, canary=False, concurrency=options.concurrency
    )
    scorer = Scorer(
        rewards={
            "gsm8k": RewardFunction("assistant", gsm8k.reward),
            "followup": RewardFunction("user", followup.reward),
        },
        weights={"gsm8k": 1.0, "followup": 1.0},
        judge=RewardJudge(judge, 60.0),
        credit="turn",
        group=GROUP,
        scale="group",
    )

    def score(step: int, episodes: Sequence[Episode]) -> Scored:
        turns = [len(episode.spans[-1].ids) for episode in episodes]
        stages.ended.append([length / max(turns) for length in turns])
        with stages.timed("judge"):
            return scorer(episodes)

    chat_format = Format(tokenizer)
    boundary = TurnBoundary(chat_format, Format(tokenizer, history="as_last"))
    prompts = {dialogue.id: dialogue for dialogue in PROMPTS}
    rollout = Rollout(
        prompts, chat_format, boundary, options.tokens, options.tokens, 0, "tiny", score, scorer.metric_names
    )
    settings: dict[str, Any] = {"per_device_train_batch_size": options.episodes, "num_generations": GROUP}
    settings |= {
        "max_steps": options.steps,
        "max_completion_length": 4 * options.tokens,
        "bf16": False,
        "report_to": [],
    }
    settings |= {"save_strategy": "no", "disable_tqdm": True, "remove_unused_columns": False, "beta": 0.0}
    settings |= {"gradient_checkpointing": False, "dataloader_pin_memory": False, "logging_steps": 100}
    trainer = make_trainer(
        model, tokenizer, GRPOConfig(str(folder), **settings), rollout, list(scorer.rewards), Lora(r=8)
    )
    generate = trainer._generate_single_turn

    def generated(*given: Any) -> Any:
        with stages.timed("turns" if "answers" in stages.now else "answers"):
            return generate(*given)

    trainer._generate_single_turn = generated
    trainer.add_callback(listener(on_step_end=stages.on_step_end))
    return trainer


@contextmanager
def server() -> Iterator[str]:
    command = [sys.executable, str(SERVER), "--latency", str(LATENCY_S)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


def answered_at(requests: int, concurrency: int) -> float:
    """Seconds until the last of requests that leave together is answered."""
    return math.ceil(requests / concurrency) * LATENCY_S


def answered(ends: Sequence[float], generation: float, concurrency: int) -> float:
    """Seconds from the start of the user turns to the last verdict, each request leaving when its turn has ended."""
    free = [0.0] * concurrency
    for end in sorted(ends):
        heapq.heappush(free, max(heapq.heappop(free), end * generation) + LATENCY_S)
    return max(free)


def show(stages: Stages, options: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.table import Table

    names = ("generation", "judge", "rest", "step")
    found = {name: median(step[name] for step in stages.steps[1:]) for name in names}
    slowest = max(found[name] for name in names[:3])
    others = found["generation"] + found["rest"]
    played = zip(stages.steps[1:], stages.ended[1:], strict=True)
    waits = [step["answers"] + answered(ends, step["turns"], options.concurrency) for step, ends in played]
    table_rows = (
        ("one barrier (TRL, all asked at once)", others + answered_at(options.episodes, options.concurrency)),
        ("TRL, asked one after the other", others + LATENCY_S * options.episodes),
        ("streamed, at best", found["rest"] + median(waits)),
    )
    table = Table("", "seconds", "over the slowest stage")
    for name in names[:3]:
        table.add_row(name, f"{found[name]:.2f}", f"{found[name] / slowest:.2f}")
    table.add_row("step, measured", f"{found['step']:.2f}", f"{found['step'] / slowest:.2f}")
    for name, seconds in table_rows:
        table.add_row(f"computed: {name}", f"{seconds:.2f}", f"{seconds / slowest:.2f}")
    console = Console(width=110)
    console.print(table)
    console.print(f"aim {AIM}: {'reached' if found['step'] / slowest <= AIM else 'MISSED'}")


if __name__ == "__main__":
    main()
