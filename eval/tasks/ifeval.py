"""IFEval, prompts with instructions that a program can check: the model answers first (self-generated setting).

Source: https://github.com/google-research/google-research/tree/master/instruction_following_eval (arXiv 2311.07911;
Hub: google/IFEval, revision below), Apache-2.0. Split: one, 541 rows with 834 instructions of 25 kinds. Prompt:
verbatim. Metric: prompt-level strict, the share of answers that follow each of their instructions to the letter; the
three others are in `eval/tables/instruction_following.py`. Checkers: if-verifiable 0.1.2. For keys 1122 and 1129, which
count # and !, the checker draws a random letter instead, here always the same one.
"""

from __future__ import annotations

from pathlib import Path

from eval.dialogue import Dialogue
from eval.grading.instruction_following import load_prompts, verdicts
from eval.sources import Source

VERSION = 1
"""Version of prompt, selection and grader; a run folder of another version is rejected."""

SOURCE = Source(
    url="https://huggingface.co/datasets/google/IFEval",
    licence="Apache-2.0",
    local=("ifeval/input_data.jsonl", "ifeval/ifeval_input_data.jsonl"),
    hub_id="google/IFEval",
    revision="966cd89545d6b6acfd7638bc708b98261ca58e84",
    hub_file="ifeval_input_data.jsonl",
)


def load(limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None) -> list[Dialogue]:
    """The prompts, each with its instructions in `meta`; `limit` keeps the first of a shuffle seeded with `seed`.

    Raises:
        FileNotFoundError, ValueError: see `eval.grading.instruction_following.load_prompts`.
    """
    return load_prompts("ifeval", SOURCE, limit, seed, data_dir)


def check(dialogue: Dialogue) -> bool | None:
    """Whether the answer follows every instruction, strictly; None if there is no answer."""
    results = verdicts(dialogue)
    return None if results is None else all(verdict.strict for verdict in results)
