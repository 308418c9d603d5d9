"""The interface of engines: token ids in, token ids and a finish reason out. Knows no roles and no text.

Implementations live in `eval/engines/`, one file each, as a class `Engine` with the members of the protocol below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import Field

from eval.config import Config, ConfigError
from eval.dialogue import Failure


class Sampling(Config):
    """Every sampling field, always set explicitly: a model's own `generation_config.json` is never applied."""

    temperature: float = Field(0.0, ge=0.0, description="0 is greedy decoding")
    top_p: float = Field(1.0, gt=0.0, le=1.0, description="nucleus probability mass; 1 keeps every token")
    top_k: int = Field(0, ge=0, description="keep the k likeliest tokens; 0 keeps every token")
    max_tokens: int = Field(96, ge=1, description="limit of generated tokens, the closing one included")
    seed: int = Field(0, ge=0, description="mixed with each row's id, so that a row's sample depends on no other row")


@dataclass(frozen=True)
class Prompt:
    """One prompt: an identifier of the caller's, the token ids, and the seed of this row's own random stream."""

    key: str
    ids: Sequence[int]
    seed: int


@dataclass(frozen=True)
class Completion:
    """Generated ids, the stop token included when `finish` is "stop"."""

    ids: tuple[int, ...]
    finish: Literal["stop", "length"]
    log_probs: tuple[float, ...] | None = None
    """Of the ids at temperature 1, without top-p and top-k; from engines that were asked for them."""


def refusal(prompt: Prompt, sampling: Sampling, max_context: int, vocabulary: int) -> Failure | None:
    """Why an engine cannot complete this prompt; None if it can.

    Args:
        vocabulary: number of tokens in the model's vocabulary.

    Raises:
        ConfigError: a token is not in the vocabulary.
    """
    if not prompt.ids:
        return Failure("generate", "empty_prompt", "the prompt has no tokens")
    if len(prompt.ids) + sampling.max_tokens > max_context:
        detail = f"{len(prompt.ids)} tokens and {sampling.max_tokens} to generate exceed {max_context}"
        return Failure("generate", "context_too_long", detail)
    if max(prompt.ids) >= vocabulary:
        raise ConfigError(
            f"prompt {prompt.key} has token {max(prompt.ids)}, and the weights know {vocabulary} tokens; "
            "tokenizer and weights do not belong together"
        )
    return None


class Engine(Protocol):
    """Token ids in, completions out."""

    dtype: str
    """Precision that it computes in, such as "float32": rows of different precision are not pooled."""
    max_context: int
    """Tokens of prompt and completion together that the model can hold."""

    def generate(
        self, prompts: Iterable[Prompt], sampling: Sampling, stop_ids: frozenset[int]
    ) -> Iterator[tuple[str, Completion | Failure]]:
        """Complete every prompt; yield (key, result) as each finishes, in any order.

        A prompt that leaves no room for `sampling.max_tokens` within `max_context` yields `Failure("generate",
        "context_too_long")`, an empty one `Failure("generate", "empty_prompt")`.
        """
        ...
