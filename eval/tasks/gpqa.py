"""GPQA, graduate-level multiple choice in biology, chemistry and physics: the model answers first (self-generated).

Source: https://huggingface.co/datasets/Idavidrein/gpqa (arXiv 2311.12022; revision below), CC-BY-4.0, gated. Subsets:
main 448 rows, diamond 198 of these. Prompt: that of openai/simple-evals, one sample per question (they draw four).
Options: shuffled per record by its id, see `eval/grading/multiple_choice.py`. Metric: share of correct letters.
Its authors ask that no example appear in plain text online: rows are marked as gated, see `eval/gated_text.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from eval.dialogue import Dialogue, Message
from eval.gated_text import GATED
from eval.grading.multiple_choice import arrange, ask, grade_letter
from eval.sources import Source, choose, read_unique

VERSION = 1
"""Version of prompt, selection and grader; a run folder of another version is rejected."""

SOURCE = Source(
    url="https://huggingface.co/datasets/Idavidrein/gpqa",
    licence="CC-BY-4.0",
    local=("gpqa/gpqa_{split}.csv",),
    hub_id="Idavidrein/gpqa",
    revision="633f5ee89ab8ad4522a9f850766b73f62147ffdd",
    hub_file="gpqa_{split}.csv",
    gated=True,
)
INCORRECT = ("Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
COLUMNS = dict.fromkeys(("Record ID", "Question", "Correct Answer", *INCORRECT), str)


def load(
    limit: int | None = None,
    seed: int = 0,
    *,
    data_dir: Path | None = None,
    subset: Literal["main", "diamond", "both"] = "diamond",
) -> list[Dialogue]:
    """The questions of a subset, as tasks "gpqa_main" or "gpqa_diamond", with the correct letter as reference.

    If other options have the text of the correct one, the reference has all their letters. "both" gives the rows of
    main, then those of diamond, so diamond questions occur twice, once per task. `limit` keeps the first of a shuffle
    of each subset seeded with `seed`.

    Raises:
        FileNotFoundError: no local file and no access to the gated set; says how to accept its terms and download it.
        ValueError: a malformed row, an empty cell or a repeated record; the message quotes no cell.
    """
    subsets = ("main", "diamond") if subset == "both" else (subset,)
    return [dialogue for each in subsets for dialogue in choose(_questions(each, data_dir), limit, seed)]


def check(dialogue: Dialogue) -> bool | None:
    """Whether the answer chooses the correct letter; see `eval.grading.multiple_choice.grade_letter`."""
    return grade_letter(dialogue)


def _questions(subset: str, data_dir: Path | None) -> list[Dialogue]:
    rows = read_unique(SOURCE, COLUMNS, "Record ID", split=subset, data_dir=data_dir)
    return [_dialogue(place, subset, row) for place, row in rows]


def _dialogue(place: str, subset: str, row: dict[str, Any]) -> Dialogue:
    if empty := [name for name, text in row.items() if not text.strip()]:
        raise ValueError(f"{place}: column {empty[0]!r} is empty; use the official file")
    choices = arrange(row["Correct Answer"], [row[name] for name in INCORRECT], key=row["Record ID"])
    query = Message("user", ask(row["Question"], choices.options))
    meta = {"subset": subset, "record": row["Record ID"], **GATED}
    return Dialogue(f"gpqa_{subset}", (query,), reference=choices.right, meta=meta)
