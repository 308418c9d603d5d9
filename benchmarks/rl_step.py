"""Duration of an RL step relative to its slowest stage, with a judge that takes two seconds.

    python benchmarks/rl_step.py [--model FOLDER] [--steps 4]

A server in its own process takes 2 s per reply, `--concurrency` at once. The real trainer generates episodes of two
turns, has the user turns judged over HTTP, and takes a step. Generation, the wait for the judge, and the rest
(log-probabilities, loss, optimizer) are timed separately. Target: 1.15 times the slowest stage.

For comparison, three alternatives are computed from the same step: one barrier, where the whole step is generated and
then judged, as in TRL with a reward function that sends all requests at once; a reward function that sends one request
after the other; and the lower bound for streaming, where each request is sent when its episode ends (a turn is assumed
to end at the fraction of the generation that its length is of the longest). Asserts nothing.
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
from train.trainer_events import listener
from train.training_config import Lora
from train.turn_boundary import TurnBoundary

SERVER = Path(__file__).parent.parent / "tests" / "eval" / "client" / "judge_server.py"
LATENCY_S, GROUP = 2.0, 4
TARGET = 1.15
PROMPTS = [
    Dialogue("arithmetic", (Message("user", f"A box has {n} pens. How many are in 7 boxes?"),), reference=str(7 * n))
    for n in range(3, 67)
]


class Stages:
    """Records the seconds of each stage of each step, and when the user turns of each step ended."""

    def __init__(self) -> None:
        self.now: Counter[str] = Counter()
        """Seconds of the stages of the current step."""
        self.steps: list[dict[str, float]] = []
        self.turn_ends: list[list[float]] = []
        """For each step, the end of each user turn as a fraction of their generation."""
        self._started = 0.0

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.now[name] += time.perf_counter() - started

    def start(self) -> None:
        self._started = time.perf_counter()

    def on_step_end(self, state: Any) -> None:
        ended = time.perf_counter()
        seconds, self._started = ended - self._started, ended
        self.now["generation"] = self.now["answers"] + self.now["turns"]
        rest = seconds - self.now["generation"] - self.now["judge"]
        self.steps.append({"step": seconds, "rest": rest, **self.now})
        self.now.clear()


def main() -> None:
    options = arguments()
    with server() as url, tempfile.TemporaryDirectory() as folder:
        stages = Stages()
        trainer = build_trainer(options, url, Path(folder), stages)
        stages.start()
        trainer.train()
    show(stages, options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model",
        default="models/SmolLM2-135M-Instruct",
        help="folder of the tokenizer and, with --real, of the weights",
    )
    parser.add_argument("--real", action="store_true", help="use the weights of --model instead of a tiny random model")
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--concurrency", type=int, default=16, help="concurrent requests to the judge")
    parser.add_argument("--tokens", type=int, default=40, help="maximum tokens of a turn")
    parser.add_argument("--steps", type=int, default=4, help="steps to run; the first is a warm-up and not counted")
    return parser.parse_args()


def build_trainer(options: argparse.Namespace, url: str, folder: Path, stages: Stages) -> Any:
    """The trainer of `train.rl` with its generation and judging timed by `stages`."""
    from transformers import AutoTokenizer
    from trl import GRPOConfig

    tokenizer: Any = AutoTokenizer.from_pretrained(options.model)
    scorer = build_scorer(url, options.concurrency)

    def score(step: int, episodes: Sequence[Episode]) -> Scored:
        lengths = [len(episode.spans[-1].ids) for episode in episodes]
        stages.turn_ends.append([length / max(lengths) for length in lengths])
        with stages.timed("judge"):
            return scorer(episodes)

    chat_format = Format(tokenizer)
    rollout = Rollout(
        dialogues={dialogue.id: dialogue for dialogue in PROMPTS},
        chat_format=chat_format,
        boundary=TurnBoundary(chat_format, Format(tokenizer, history="as_last")),
        answer_tokens=options.tokens,
        user_tokens=options.tokens,
        seed=0,
        name="tiny",
        score=score,
        metric_names=scorer.metric_names,
    )
    settings = GRPOConfig(str(folder), **trainer_settings(options))
    model = build_model(options, vocabulary=len(tokenizer))
    trainer = make_trainer(model, tokenizer, settings, rollout, list(scorer.rewards), Lora(r=8))
    time_generation(trainer, stages)
    trainer.add_callback(listener(on_step_end=stages.on_step_end))
    return trainer


def build_model(options: argparse.Namespace, vocabulary: int) -> Any:
    """The model's own weights with `--real`, otherwise a tiny random Llama."""
    from transformers import AutoModelForCausalLM, LlamaConfig

    if options.real:
        return AutoModelForCausalLM.from_pretrained(options.model, dtype="float32")
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
    return AutoModelForCausalLM.from_config(LlamaConfig(vocab_size=vocabulary, **sizes))


def build_scorer(url: str, concurrency: int) -> Scorer:
    """Both rewards, the user turns judged over HTTP by the server at `url`."""
    judge = Judge(model="judge", base_url=url, api_key_variable=None, cache=None, canary=False, concurrency=concurrency)
    rewards = {"gsm8k": RewardFunction("assistant", gsm8k.reward), "followup": RewardFunction("user", followup.reward)}
    return Scorer(
        rewards=rewards,
        weights=dict.fromkeys(rewards, 1.0),
        judge=RewardJudge(judge, 60.0),
        credit="turn",
        group=GROUP,
        scale="group",
    )


def trainer_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments of `GRPOConfig`."""
    return {
        "per_device_train_batch_size": options.episodes,
        "num_generations": GROUP,
        "max_steps": options.steps,
        "max_completion_length": 4 * options.tokens,
        "bf16": False,
        "beta": 0.0,
        "gradient_checkpointing": False,
        "dataloader_pin_memory": False,
        "remove_unused_columns": False,
        "save_strategy": "no",
        "report_to": [],
        "logging_steps": 100,
        "disable_tqdm": True,
    }


def time_generation(trainer: Any, stages: Stages) -> None:
    """Time the trainer's two generations per step: first the answers, then the user turns."""
    generate = trainer._generate_single_turn

    def timed_generate(*arguments: Any) -> Any:
        with stages.timed("turns" if "answers" in stages.now else "answers"):
            return generate(*arguments)

    trainer._generate_single_turn = timed_generate


@contextmanager
def server() -> Iterator[str]:
    command = [sys.executable, str(SERVER), "--latency", str(LATENCY_S)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


def answered_together(requests: int, concurrency: int) -> float:
    """Seconds until the last of `requests` sent at the same time is answered."""
    return math.ceil(requests / concurrency) * LATENCY_S


def answered_streamed(ends: Sequence[float], generation: float, concurrency: int) -> float:
    """Seconds from the start of the user turns to the last verdict, if each request is sent when its turn ends."""
    free = [0.0] * concurrency
    for end in sorted(ends):
        heapq.heappush(free, max(heapq.heappop(free), end * generation) + LATENCY_S)
    return max(free)


def show(stages: Stages, options: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.table import Table

    names = ("generation", "judge", "rest", "step")
    seconds = {name: median(step[name] for step in stages.steps[1:]) for name in names}
    slowest = max(seconds[name] for name in names[:3])
    without_judge = seconds["generation"] + seconds["rest"]
    counted = zip(stages.steps[1:], stages.turn_ends[1:], strict=True)
    streamed = [step["answers"] + answered_streamed(ends, step["turns"], options.concurrency) for step, ends in counted]
    alternatives = (
        (
            "one barrier (TRL, all requests at once)",
            without_judge + answered_together(options.episodes, options.concurrency),
        ),
        ("TRL, one request after the other", without_judge + LATENCY_S * options.episodes),
        ("streamed, lower bound", seconds["rest"] + median(streamed)),
    )
    table = Table("", "seconds", "relative to the slowest stage")
    for name in names[:3]:
        table.add_row(name, f"{seconds[name]:.2f}", f"{seconds[name] / slowest:.2f}")
    table.add_row("step, measured", f"{seconds['step']:.2f}", f"{seconds['step'] / slowest:.2f}")
    for name, computed in alternatives:
        table.add_row(f"computed: {name}", f"{computed:.2f}", f"{computed / slowest:.2f}")
    console = Console(width=110)
    console.print(table)
    console.print(f"target {TARGET}: {'reached' if seconds['step'] / slowest <= TARGET else 'MISSED'}")


if __name__ == "__main__":
    main()
