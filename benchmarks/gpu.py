"""SFT and generation on one GPU as shares of its compute and bandwidth limits, on random weights of Qwen3.5-2B's shape.

    python benchmarks/gpu.py            takes up to 10 minutes; needs no files
    python benchmarks/gpu.py --tiny     a smoke test on a CPU with a few tiny layers

Compares SFT steps of all weights (forward, backward, AdamW) with logits only at the trained tenth of the positions and
with logits at all positions, and with the kernels of flash-linear-attention and transformers' torch path; then greedy
generation with transformers. Each case runs in its own process, so that its peak memory is separate and the torch path
never sees the kernels. The limits are measured on the same device, with a large matrix product and a large copy. A
step's share of the compute limit (MFU) counts 6 operations per parameter and token, for the head only where it has
logits, and none for attention scores; generation's share of the bandwidth limit counts the weights once per step.

Shape: 24 layers of width 2,048, feed-forward 6,144, every fourth with full attention (8 heads of 256, 2 KV heads), the
others linear (16 heads of 128 for keys and values), tied vocabulary of 248,320 tokens: 1.9 billion parameters. Asserts
nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TRAINED = 10
"""One in this many positions is trained."""
HIDDEN_MODULES = ("fla", "causal_conv1d")
CASES = {
    "SFT, trained head, kernels": ("sft", "trained", "kernels"),
    "SFT, full head, kernels": ("sft", "full", "kernels"),
    "SFT, trained head, torch path": ("sft", "trained", "torch"),
    "generate, kernels": ("generate", "", "kernels"),
    "generate, torch path": ("generate", "", "torch"),
}


@dataclass(frozen=True)
class Size:
    """Size of the model and of the workload."""

    layers: int
    width: int
    feed_forward: int
    vocabulary: int
    rows: int
    positions: int
    new_tokens: int
    steps: int


FULL = Size(24, 2048, 6144, 248_320, rows=8, positions=2048, new_tokens=128, steps=5)
TINY = Size(4, 64, 128, 512, rows=2, positions=64, new_tokens=8, steps=2)


def main() -> None:
    options = arguments()
    if options.case:
        print(json.dumps(case(options.case, options.tiny)))
        return
    figures = {}
    for name in ("limits", *CASES):
        command = [sys.executable, __file__, "--case", name, *(["--tiny"] if options.tiny else [])]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        figures[name] = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
        print(f"{name}: {figures[name] or 'did not run, see above'}", file=sys.stderr, flush=True)
    show(figures)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--tiny", action="store_true", help="tiny sizes on a CPU, with or without kernels; the figures are meaningless"
    )
    parser.add_argument("--case", choices=["limits", *CASES], help=argparse.SUPPRESS)
    return parser.parse_args()


def case(name: str, tiny: bool) -> dict[str, Any]:
    """Measure one case in this process."""
    import torch

    if not tiny and not torch.cuda.is_available():
        raise SystemExit("torch cannot use a GPU here; --tiny runs on a CPU")
    size, device = (TINY, "cpu") if tiny else (FULL, "cuda")
    if name == "limits":
        return {"device": device if tiny else torch.cuda.get_device_name(0), **limits(device, tiny)}
    work, head, path = CASES[name]
    if path == "torch":
        sys.modules |= dict.fromkeys(HIDDEN_MODULES)  # type: ignore[arg-type]
    elif not tiny and (missing := [module for module in HIDDEN_MODULES if not importable(module)]):
        raise SystemExit(f"cannot measure the kernels: {', '.join(missing)} not installed")
    model = random_model(size, device)
    figures = sft(model, size, head) if work == "sft" else generate(model, size)
    peak = torch.cuda.max_memory_allocated() / 2**30 if not tiny else None
    return {**figures, "peak_gib": peak}


def importable(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


def random_model(size: Size, device: str) -> Any:
    import torch
    from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

    torch.manual_seed(0)
    heads = {"num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256}
    heads |= {"linear_num_key_heads": 16, "linear_num_value_heads": 16}
    if size is TINY:
        heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "linear_num_key_heads": 2}
        heads |= {"linear_num_value_heads": 2, "linear_key_head_dim": 16, "linear_value_head_dim": 16}
    config = Qwen3_5TextConfig(
        vocab_size=size.vocabulary,
        hidden_size=size.width,
        intermediate_size=size.feed_forward,
        num_hidden_layers=size.layers,
        layer_types=[("linear_attention", "full_attention")[i % 4 == 3] for i in range(size.layers)],
        tie_word_embeddings=True,
        **heads,
    )
    with torch.device(device):
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float32 if device == "cpu" else torch.bfloat16)
        try:
            return Qwen3_5ForCausalLM(config)
        finally:
            torch.set_default_dtype(before)


def sft(model: Any, size: Size, head: str) -> dict[str, float]:
    """Tokens per second and counted operations per second of training steps."""
    import torch

    shape = (size.rows, size.positions)
    ids = torch.randint(size.vocabulary, shape, device=model.device)
    chosen = torch.zeros(shape, dtype=torch.bool, device=model.device)
    chosen[:, -(size.positions // TRAINED) :] = True
    labels = ids.roll(-1, 1)[chosen]
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6)
    model.train()

    def step() -> None:
        states = model.model(input_ids=ids).last_hidden_state
        logits = model.lm_head(states[chosen]) if head == "trained" else model.lm_head(states)[chosen]
        torch.nn.functional.cross_entropy(logits.float(), labels).backward()
        optimizer.step()
        optimizer.zero_grad()

    seconds = timed(step, size.steps, model.device.type)
    tokens = size.rows * size.positions
    head_size = size.vocabulary * size.width
    body_size = sum(parameter.numel() for parameter in model.parameters()) - head_size
    scored = int(chosen.sum()) if head == "trained" else tokens
    return {"tokens_per_s": tokens / seconds, "flop_per_s": 6 * (body_size * tokens + head_size * scored) / seconds}


def generate(model: Any, size: Size) -> dict[str, float]:
    """Generated tokens per second, and bytes of weights read per second."""
    import torch

    prompt = torch.randint(size.vocabulary, (size.rows * 8, size.positions // 4), device=model.device)
    settings = {"max_new_tokens": size.new_tokens, "min_new_tokens": size.new_tokens, "do_sample": False}
    model.eval()

    def generate_batch() -> None:
        model.generate(prompt, attention_mask=torch.ones_like(prompt), pad_token_id=0, **settings)

    seconds = timed(generate_batch, 1, model.device.type)
    weights = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    return {
        "tokens_per_s": prompt.shape[0] * size.new_tokens / seconds,
        "bytes_per_s": weights * size.new_tokens / seconds,
    }


def limits(device: str, tiny: bool) -> dict[str, float]:
    """Operations per second of a large matrix product; bytes per second, read and written, of a large copy."""
    import torch

    side, length = (256, 2**20) if tiny else (8192, 2**30)
    dtype = torch.float32 if tiny else torch.bfloat16
    left, right = torch.randn(2, side, side, device=device, dtype=dtype)
    product = timed(lambda: left @ right, 20, device)
    source = torch.zeros(length, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    copy = timed(lambda: target.copy_(source), 20, device)
    return {"flop_per_s": 2 * side**3 / product, "bytes_per_s": 2 * length / copy}


def timed(work: Callable[[], object], times: int, device: str) -> float:
    """Mean seconds per call over `times` calls, after two warm-up calls that also compile."""
    import torch

    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    for _ in range(2):
        work()
    wait()
    started = time.perf_counter()
    for _ in range(times):
        work()
    wait()
    return (time.perf_counter() - started) / times


def show(figures: dict[str, dict[str, Any] | None]) -> None:
    from importlib.metadata import version

    from rich.console import Console
    from rich.table import Table

    limit = figures["limits"]
    if limit is None:
        raise SystemExit("the limits could not be measured; see the error above")
    table = Table("case", "tokens / s", "share of compute limit (MFU)", "share of bandwidth limit", "peak GiB")
    for name in CASES:
        one = figures[name]
        if one is None:
            table.add_row(name, "did not run", "", "", "")
            continue
        shares = [f"{one[key] / limit[key]:.1%}" if key in one else "" for key in ("flop_per_s", "bytes_per_s")]
        peak = "" if one["peak_gib"] is None else f"{one['peak_gib']:.1f}"
        table.add_row(name, f"{one['tokens_per_s']:,.0f}", *shares, peak)
    console = Console(width=120)
    console.print(table)
    console.print(
        f"{limit['device']}: {limit['flop_per_s'] / 1e12:.1f} TFLOP/s, {limit['bytes_per_s'] / 1e12:.2f} TB/s, "
        f"torch {version('torch')}, transformers {version('transformers')}, {time.strftime('%Y-%m-%d')}"
    )


if __name__ == "__main__":
    main()
