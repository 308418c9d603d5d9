"""Time and memory of a training step with TRL's fused head, compared with logits at every position.

    python benchmarks/sft_step.py [--device cpu] [--json]

The model is random, with two layers and Qwen3.5's vocabulary of 248,320 tokens, tied to the embeddings. The last tenth
of each row is trained, about the share of a user turn in a conversation. Three heads alternate within each repeat:

    plain      logits of all positions, then cross entropy: what transformers does with labels
    fused      TRL's unmodified head: in tiles; only trained positions on a GPU, all positions on a CPU
    trained    TRL's head restricted to trained positions on a CPU too (`train/fused_head.py`)

A step is one forward and one backward pass, with adapters or (`--full`) all weights trained. A ratio is the median over
repeats of a head's time over that of `plain` in the same repeat. Memory is the peak of one step above what the model
holds; on a CPU each head is measured in its own process (Linux). All heads must give the same loss; nothing else is
asserted.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from eval import manifest
from eval.rendering.chat_format import IGNORED
from train.adapters import add_adapters
from train.fused_head import score_trained_positions_alone
from train.training_config import Lora

VOCABULARY, LAYERS, TRAINED = 248_320, 2, 0.1
HEADS = ("plain", "fused", "trained")
MIB = 2**20


@dataclass(frozen=True)
class Measured:
    """One step: wall and CPU seconds, and the loss."""

    wall: float
    cpu: float
    loss: float


def main() -> None:
    options = arguments()
    import torch

    step = Step(options)
    if options.memory_of:
        print(json.dumps({"mib": step.memory(options.memory_of)}))
        return
    heads = HEADS if options.device == "cpu" else HEADS[:2]
    for head in heads:
        step.run(head)
    runs: dict[str, list[Measured]] = {head: [] for head in heads}
    for repeat in range(options.repeats):
        for head in heads:
            runs[head].append(step.run(head))
            print(f"repeat {repeat + 1}: {head} {runs[head][-1]}", file=sys.stderr, flush=True)
    losses = [runs[head][0].loss for head in heads]
    if max(losses) - min(losses) > (1e-4 if options.dtype == "float32" else 2e-2):
        raise RuntimeError(f"the heads give different losses: {dict(zip(heads, losses, strict=True))}")
    report = {
        "heads": {
            head: {
                "wall_s": round(median(run.wall for run in runs[head]), 4),
                "cpu_s": round(median(run.cpu for run in runs[head]), 4),
                "wall_over_plain": ratio(runs[head], runs["plain"], "wall"),
                "cpu_over_plain": ratio(runs[head], runs["plain"], "cpu"),
                "memory_mib": step.memory(head) if options.device == "cuda" else memory_in_process(head),
            }
            for head in heads
        },
        "largest_difference_of_losses": max(losses) - min(losses),
        "setting": {
            "command": " ".join(["python", *sys.argv]),
            "commit": manifest.git_state(Path(__file__).parent)["commit"],
            "batch": [options.rows, options.tokens],
            "hidden": options.hidden,
            "dtype": options.dtype,
            "trained": "all weights" if options.full else "adapters",
            "threads": torch.get_num_threads(),
            "load_average": os.getloadavg()[0],
            **manifest.hardware(),
        },
    }
    print(json.dumps(report, indent=2)) if options.json else show(report)


def arguments() -> argparse.Namespace:
    import torch

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rows", type=int, help="rows per batch (default: 4, on a GPU 8)")
    parser.add_argument("--tokens", type=int, help="tokens per row (default: 128, on a GPU 2048)")
    parser.add_argument("--hidden", type=int, help="width of the model (default: 256, on a GPU 2048)")
    parser.add_argument("--full", action="store_true", help="train all weights instead of adapters")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--memory-of", choices=HEADS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    small = options.device == "cpu"
    options.rows = options.rows or (4 if small else 8)
    options.tokens = options.tokens or (128 if small else 2048)
    options.hidden = options.hidden or (256 if small else 2048)
    options.dtype = "float32" if small else "bfloat16"
    return options


class Step:
    """A model and a batch; `run` does one forward and one backward pass through one of the heads."""

    def __init__(self, options: argparse.Namespace) -> None:
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM
        from trl.trainer import utils

        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=options.hidden,
            intermediate_size=3 * options.hidden,
            num_hidden_layers=LAYERS,
            num_attention_heads=max(1, options.hidden // 128),
            tie_word_embeddings=True,
        )
        self._cuda = options.device == "cuda"
        model = LlamaForCausalLM(config).to(options.device, getattr(torch, options.dtype))
        utils.add_fused_lm_head(model, outputs=("log_probs", "entropy", "is_top1"))  # as TRL's trainer does
        self._model: Any = model if options.full else add_adapters(model, Lora())
        ids = torch.randint(VOCABULARY, (options.rows, options.tokens))
        labels = ids.clone()
        labels[:, : round(options.tokens * (1 - TRAINED))] = IGNORED
        self._batch = {
            name: tensor.to(options.device)
            for name, tensor in (("input_ids", ids), ("attention_mask", torch.ones_like(ids)), ("labels", labels))
        }
        self._use_triton = utils._use_triton

    def run(self, head: str) -> Measured:
        """One step through `head`."""
        from trl.trainer import utils

        utils._use_triton = self._use_triton
        if head == "trained":
            score_trained_positions_alone()
        self._wait()
        wall, cpu = time.perf_counter(), time.process_time()
        loss = self._model(**self._batch, **({} if head == "plain" else {"fused_lm_head": True})).loss
        loss.backward()
        self._wait()
        measured = Measured(time.perf_counter() - wall, time.process_time() - cpu, loss.item())
        self._model.zero_grad()
        return measured

    def memory(self, head: str) -> float:
        """Peak memory of one step above the model, in MiB, on the GPU or, in a fresh process, on the CPU."""
        import torch

        if self._cuda:
            torch.cuda.reset_peak_memory_stats()
            held = torch.cuda.memory_allocated()
            self.run(head)
            return round((torch.cuda.max_memory_allocated() - held) / MIB, 1)
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM: building the model peaks higher
        held = kib_of_this_process("VmRSS")
        self.run(head)
        return round((kib_of_this_process("VmHWM") - held) / 1024, 1)

    def _wait(self) -> None:
        import torch

        if self._cuda:
            torch.cuda.synchronize()


def memory_in_process(head: str) -> float:
    """`Step.memory` in a separate process with the same options."""
    command = [sys.executable, *sys.argv, "--memory-of", head]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["mib"])


def kib_of_this_process(field: str) -> int:
    """A memory field of /proc/self/status: "VmRSS" is the current value, "VmHWM" the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def ratio(ours: list[Measured], plain: list[Measured], clock: str) -> float:
    pairs = zip(ours, plain, strict=True)
    return round(median(getattr(a, clock) / getattr(b, clock) for a, b in pairs), 3)


def show(report: dict[str, Any]) -> None:
    setting = report["setting"]
    rows, tokens = setting["batch"]
    print(
        f"{rows} rows of {tokens} tokens, {TRAINED:.0%} trained, {LAYERS} layers of width {setting['hidden']}, "
        f"{VOCABULARY:,} tokens, {setting['trained']}, {setting['dtype']}, {setting['threads']} threads, "
        f"load {setting['load_average']:.1f}"
    )
    print(f"{'head':<9}{'wall s':>9}{'CPU s':>9}{'wall/plain':>12}{'CPU/plain':>11}{'memory MiB':>12}")
    for head, found in report["heads"].items():
        print(
            f"{head:<9}{found['wall_s']:>9.3f}{found['cpu_s']:>9.3f}{found['wall_over_plain']:>12.2f}"
            f"{found['cpu_over_plain']:>11.2f}{found['memory_mib']:>12.0f}"
        )
    print(f"largest difference between the losses: {report['largest_difference_of_losses']:.1e}")


if __name__ == "__main__":
    main()
