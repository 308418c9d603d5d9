"""Engine on transformers: the model runs in this process, on a CPU in float32 or on a GPU in bfloat16.

Greedy results can depend on the batch composition where two logits are equal to within rounding. The model's
`generation_config` is never applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from eval.config import ConfigError
from eval.dialogue import Failure
from eval.engine import Completion, Prompt, Sampling, refusal
from eval.generation.decoder import Decoder, Row
from eval.generation.grouped_attention import use_grouped_attention
from eval.generation.scheduler import Scheduler
from eval.time_spent import spent
from eval.weights import model_folder, model_limits

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Engine:
    """Completes token ids with a causal language model of transformers."""

    def __init__(
        self,
        folder: str | Path,
        *,
        device: str = "auto",
        dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto",
        batch_tokens: int | None = None,
        batch_rows: int | None = None,
    ) -> None:
        """Reads only the configuration; weights are loaded on the first prompt.

        Args:
            folder: model folder or Hub id.
            device: "auto" is the first GPU, else the CPU.
            dtype: "auto" is float32 on a CPU and bfloat16 on a GPU.
            batch_tokens: maximum cached positions of a batch; default: 32,768 on a CPU, 262,144 on a GPU.
            batch_rows: maximum rows of a batch; default: 64 on a CPU, 256 on a GPU.

        Raises:
            ConfigError: the folder is incomplete, or a setting is not valid.
        """
        for name, value in (("batch_tokens", batch_tokens), ("batch_rows", batch_rows)):
            if value is not None and value < 1:
                raise ConfigError(f"engine.{name} is {value}; it must be at least 1")
        self.folder = model_folder(folder)
        self.max_context, self.vocabulary = model_limits(self.folder)
        self.device = chosen_device(device)
        on_cpu = self.device == "cpu"
        self.dtype: str = ("float32" if on_cpu else "bfloat16") if dtype == "auto" else dtype
        self.batch_tokens = batch_tokens or (2**15 if on_cpu else 2**18)
        self.batch_rows = batch_rows or (64 if on_cpu else 256)
        # Batching long prompts saves no time on a CPU, and without padding a prompt skips the masked half of attention.
        self.read_tokens = 1024 if on_cpu else 2**15

    def generate(
        self, prompts: Iterable[Prompt], sampling: Sampling, stop_ids: frozenset[int]
    ) -> Iterator[tuple[str, Completion | Failure]]:
        """Complete every prompt, a window of prompts at a time; yields (key, result) as rows finish."""
        rows = (Row(prompt, result=refusal(prompt, sampling, self.max_context, self.vocabulary)) for prompt in prompts)
        for first in rows:
            # Weights are loaded only when a row needs them.
            if first.result is not None:
                yield first.prompt.key, first.result
                continue
            decoder = Decoder(self.model, sampling, stop_ids)
            budgets = (self.batch_tokens, self.batch_rows, self.read_tokens)
            for row in Scheduler(decoder, chain([first], rows), *budgets).run():
                assert row.result is not None
                yield row.prompt.key, row.result

    @cached_property
    def model(self) -> PreTrainedModel:
        """The loaded weights.

        Raises:
            ConfigError: the files cannot be read, or a weight is missing.
        """
        with spent("load"):
            return self._load()

    def _load(self) -> PreTrainedModel:
        import torch
        from safetensors import SafetensorError
        from transformers import AutoModelForCausalLM

        try:
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                self.folder, dtype=getattr(torch, self.dtype), output_loading_info=True
            )
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            raise ConfigError(f"cannot read the weights in {self.folder} ({error}); copy them again") from error
        model, report = loaded
        if absent := sorted(report["missing_keys"]):
            raise ConfigError(
                f"the weights in {self.folder} lack {len(absent)} tensors of {type(model).__name__}, such as "
                f"{absent[0]}; copy them again from the original model"
            )
        use_grouped_attention(model)
        return model.to(self.device).eval()


def chosen_device(device: str) -> str:
    """The torch device for the setting `device`; "auto" is the first GPU, else the CPU.

    Raises:
        ConfigError: the device is not available.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"engine.device {device!r} is not available ({error}); try auto") from error
    return device
