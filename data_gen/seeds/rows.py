"""A model's own answers, from the rows of a finished `eval.probe` run: each row up to its last assistant turn.

Only rows of training questions (GSM8K, `tasks.gsm8k.split: train`) may become seeds. Other runs are rejected, because
their rows are evaluation rows.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from eval.dialogue import Dialogue
from eval.finished_runs import read_run
from eval.held_out import is_for_training
from eval.sources import choose

LICENCE = "unknown"
ORIGIN = "answers of a model in a run folder"


def load(
    limit: int | None = None,
    seed: int = 0,
    *,
    data_dir: Path | None = None,
    run: Path,
    cut_off: bool = False,
) -> list[Dialogue]:
    """The rows of the run folder `run` with a generated answer; `cut_off` includes truncated answers.

    `limit` keeps the first of a shuffle seeded with `seed`. `data_dir` is not used.

    Raises:
        ConfigError: there is no such folder, or the run is not finished.
        ValueError: the run is perturbed, a row is an evaluation row, or no row has a usable answer.
    """
    finished = read_run(run)
    if finished.perturbed:
        raise ValueError(f"the answers in {run} are perturbed; name a run without a perturbation")
    seeds = []
    for row in finished.rows():
        if not is_for_training(row):
            raise ValueError(f"{run} has an evaluation row of {row.task}; use a run on a train split")
        answers = [turn for turn, message in enumerate(row.messages) if message.role == "assistant"]
        if answers and (cut_off or row.messages[answers[-1]].finish != "length"):
            messages = row.messages[: answers[-1] + 1]
            # the answer is part of the seed, so the row's own id must not be reused
            seeds.append(replace(row, messages=messages, judgement=None, failure=None, id=""))
    if not seeds:
        raise ValueError(f"{run} has no row with a complete answer")
    return choose(seeds, limit, seed)
