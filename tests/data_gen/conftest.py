"""Conversations as a teacher makes them, and small files of every evaluation in the official formats."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from data_gen.filter_context import Context
from data_gen.generate_config import Filters
from data_gen.ngram_index import NgramIndex
from data_gen.plan import Persona, Plan
from data_gen.teacher import conversation
from eval.config import Config
from eval.dialogue import Dialogue, Failure, Message
from eval.rows import RowStore
from eval.run_dir import RunDir
from eval.summary import summarise

PERSONA = Persona("A gardener.", "beginner", "save water", "I only have a can", "I'm on a balcony")
SEED = Dialogue(
    "written",
    (
        Message("user", "How often do I water a fern?"),
        Message("assistant", "Twice a week, about 200 ml, and never let the pot stand in water."),
    ),
    meta={"topic": "how-to: ferns", "row": 0},
)
ASKED = "Why 200 ml and not more, does the pot rot when it stands in water?"
REPLIED = "Because the roots need air, and in standing water they get none and begin to rot."


def made(
    *texts: str,
    number: int = 0,
    styles: Sequence[str] = ("clarify_step",),
    seed: Dialogue = SEED,
    failure: Failure | None = None,
    **fields: Any,
) -> Dialogue:
    """The conversation of a plan in which user and assistant say `texts` in turn after the seed."""
    exchanged = zip(itertools.cycle(["user", "assistant"]), texts or (ASKED, REPLIED), strict=False)
    turns = [Message(role, text, "tiny-1", **fields) for role, text in exchanged]
    plan = Plan(number, seed, tuple(styles), PERSONA, random_seed=number)
    return conversation(plan, turns, "tiny-1", failure=failure)


def judged(dialogue: Dialogue, *labels: str | None, genuine: bool = True) -> Dialogue:
    """`dialogue` with a verdict of each label on its generated user turns; None is a failure of the judge."""
    start = dialogue.meta["seed_turns"]
    verdicts = [
        {
            "turn": start + 2 * place,
            "label": label,
            "genuine": label and genuine,
            "failure": None if label else "timeout",
        }
        for place, label in enumerate(labels or ["genuine_followup"] * len(dialogue.meta["styles"]))
    ]
    return replace(dialogue, meta={**dialogue.meta, "judged": verdicts})


def context(evaluation: Sequence[tuple[str, str]] = (), **limits: Any) -> Context:
    """What filters know, with no evaluation row unless given."""
    return Context(Filters(**limits), frozenset({"clarify_step", "extend"}), NgramIndex(evaluation))


@pytest.fixture(scope="session")
def make_conversation() -> Callable[..., Dialogue]:
    """`made`: (texts..., number=0, styles=("clarify_step",)) -> a conversation after a seed on ferns."""
    return made


@pytest.fixture(scope="session")
def give_verdicts() -> Callable[..., Dialogue]:
    """`judged`: (conversation, labels...) -> it with verdicts."""
    return judged


@pytest.fixture(scope="session")
def make_context() -> Callable[..., Context]:
    """`context`: (evaluation=[(row, text)], **limits of the filters) -> what filters know."""
    return context


class FolderConfig(Config):
    """What `RunDir` needs of a configuration."""

    run_dir: Path = Field(description="folder")


@pytest.fixture
def make_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes a run folder of rows with the writers of a probe: (rows, name="run", finish=True, perturbation=None)."""
    monkeypatch.setattr("eval.manifest.git_state", lambda folder: {"commit": None, "dirty_sha256": None, "diff": None})

    def make(rows: list[Dialogue], name: str = "run", finish: bool = True, perturbation: dict | None = None) -> Path:
        path = tmp_path / "runs" / name
        protocol = {
            "model": "tiny@1",
            "format": "smollm2",
            "sampling": {"temperature": 0.0},
            "perturbation": perturbation,
        }
        with RunDir(path, FolderConfig(run_dir=path), protocol, {"seed": 0, "tasks": {}}) as run:
            with RowStore(path / "rows.jsonl") as store:
                for row in rows:
                    store.append(row.id, row)
            if finish:
                run.finish({"tasks": [asdict(summary) for summary in summarise(rows)]})
        return path

    return make


ROWS = {
    "gsm8k question": "Ulla weaves 14 baskets on each of the 9 market days before midsummer. How many baskets is that?",
    "gsm8k solution": "Over the nine market days she weaves 14 * 9 = <<14*9=126>>126 baskets out of willow.\n#### 126",
    "ifeval prompt": "Describe an old lighthouse keeper who collects buttons, and never use the letter q in it.",
    "ifbench prompt": "List five reasons why otters hold hands while asleep and put a semicolon after each of them.",
    "gpqa question": "Which of these alkaloids crosses the membrane of a chloroplast without any carrier at all?",
    "gpqa right": "the one whose ring nitrogen stays unprotonated at the pH that prevails in stroma",
    "gpqa wrong": "every alkaloid that carries two methoxy groups on the ring next to its nitrogen",
    "healthbench prompt": "my left knee clicks whenever i climb the stairs of my office, should it worry me",
    "healthbench ideal": "A click without pain or swelling is mostly harmless gas moving inside the knee joint.",
    "healthbench other": "Clicking knees are common after forty and rarely need more than a few strong thigh muscles.",
    "coval prompt": "should my town ban fireworks at new year because so many dogs are afraid of them",
    "coval response": "Some towns found a middle way by moving the fireworks to one field outside of the village.",
    "pocket question": "",
}
"""A text of our own in every field of every evaluation that holds text; that of pocket is read from its files."""


@pytest.fixture(scope="session")
def evaluation_texts() -> dict[str, str]:
    """`ROWS`: field -> the text that the files in `evaluation_dir` have there."""
    from eval.data_files import read_file
    from eval.tasks import pocket

    (_, row), *_ = read_file(pocket.FOLDER / "pocket_math.jsonl", {"question": str})
    return {**ROWS, "pocket question": row["question"]}


@pytest.fixture(scope="session")
def evaluation_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a small file of every evaluation, and GSM8K's train split."""
    folder = tmp_path_factory.mktemp("data")
    write_jsonl(folder / "gsm8k/test.jsonl", {"question": ROWS["gsm8k question"], "answer": ROWS["gsm8k solution"]})
    write_jsonl(folder / "gsm8k/train.jsonl", *TRAIN)
    write_jsonl(folder / "ifeval/input_data.jsonl", {"prompt": ROWS["ifeval prompt"]})
    write_jsonl(folder / "ifbench/IFBench_test.jsonl", {"prompt": ROWS["ifbench prompt"]})
    ideal = {
        "ideal_completion": ROWS["healthbench ideal"],
        "ideal_completions_ref_completions": ["Yes.", ROWS["healthbench other"]],
    }
    health = {"prompt": [{"role": "user", "content": ROWS["healthbench prompt"]}], "ideal_completions_data": ideal}
    write_jsonl(
        folder / "healthbench/2025-05-07-06-14-12_oss_eval.jsonl", health, {**health, "ideal_completions_data": None}
    )
    reply = {"role": "assistant", "content": ROWS["coval response"]}
    prompt = {"id": "p", "messages": [{"role": "user", "content": ROWS["coval prompt"]}]}
    write_jsonl(folder / "coval/comparisons.jsonl", {"prompt": prompt, "responses": [{"messages": [reply]}]})
    path = folder / "gpqa/gpqa_diamond.csv"
    path.parent.mkdir()
    with path.open("w", newline="") as file:
        row = [ROWS["gpqa question"], ROWS["gpqa right"], "none", ROWS["gpqa wrong"], "all"]
        names = ["Question", "Correct Answer", *(f"Incorrect Answer {n}" for n in "123")]
        csv.writer(file).writerows([names, row])
    return folder


HALLS = [(4, 5, 2), (12, 100, 17), (7, 8, 9), (20, 55, 3), (3, 33, 4), (11, 6, 5), (9, 9, 1), (2, 750, 8)]
TRAIN = [
    {
        "question": f"A hall has {rows} rows of {seats} chairs and {spare} spare ones. How many are there?",
        "answer": f"In the rows there are {rows}*{seats}=<<{rows}*{seats}={rows * seats}>>{rows * seats:,} chairs.\n"
        f"With the spare ones that is {rows * seats}+{spare}=<<{rows * seats}+{spare}={rows * seats + spare}>>"
        f"{rows * seats + spare:,} chairs.\n#### {rows * seats + spare:,}",
    }
    for rows, seats, spare in [
        (4, 5, 2),
        (12, 100, 17),
        (7, 8, 9),
        (20, 55, 3),
        (3, 33, 4),
        (11, 6, 5),
        (9, 9, 1),
        (2, 750, 8),
    ]
]


def write_jsonl(path: Path, *rows: dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
