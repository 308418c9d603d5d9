"""IFBench, instructions of kinds that are not in training sets: the model answers first (self-generated setting).

Source: https://github.com/allenai/IFBench (arXiv 2507.02833; Hub: allenai/IFBench_test, revision below), ODC-BY-1.0.
Split: one, 300 rows with 344 instructions of 58 kinds (the release of July 2025 had 294 rows). Prompt: verbatim.
Metric: prompt-level loose, the share of answers of which some variant follows each instruction; the three others are in
`eval/tables/instruction_following.py`. Checkers: if-verifiable 0.1.2, without IFBench's fixes since December 2025.
"""

from __future__ import annotations

from pathlib import Path

from eval.dialogue import Dialogue
from eval.grading.instruction_following import load_prompts, verdicts
from eval.sources import Source

VERSION = 1
"""Version of prompt, selection and grader; a run folder of another version is rejected."""

SOURCE = Source(
    url="https://huggingface.co/datasets/allenai/IFBench_test",
    licence="ODC-BY-1.0",
    local=("ifbench/IFBench_test.jsonl",),
    hub_id="allenai/IFBench_test",
    revision="2e8a48de45ff3bf41242f927254ca81b59ca3ae2",
    hub_file="data/train-00000-of-00001.parquet",
)


def load(limit: int | None = None, seed: int = 0, *, data_dir: Path | None = None) -> list[Dialogue]:
    """The prompts, each with its instructions in `meta`; `limit` keeps the first of a shuffle seeded with `seed`.

    Raises:
        FileNotFoundError, ValueError: see `eval.grading.instruction_following.load_prompts`.
    """
    return load_prompts("ifbench", SOURCE, limit, seed, data_dir)


def check(dialogue: Dialogue) -> bool | None:
    """Whether some variant of the answer follows each instruction (loose); None if there is no answer."""
    results = verdicts(dialogue)
    return None if results is None else all(verdict.loose for verdict in results)
