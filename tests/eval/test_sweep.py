"""A sweep: its cells, what it would cost, and that nothing is made twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError, validate
from eval.dialogue import Dialogue, Failure, Message
from eval.engine import Sampling
from eval.rows import RowStore
from eval.sweep_config import SweepConfig
from eval.sweep_estimate import Work, by_model, estimate_table, measured_speed, sampled_speed, work_of


def config(tmp_path: Path, **changes: Any) -> SweepConfig:
    values = {
        "run_dir": tmp_path / "sweep",
        "models": {"a": {"model": "models/a", "format": "smollm2"}, "b": {"model": "models/b", "format": "qwen3_5"}},
        "temperatures": [0.0, 0.7],
        "perturbations": {"full": None, "half": {"name": "truncate", "fraction": 0.5}},
        "probe": {"tasks": {"pocket": {"limit": 4}}, "sampling": {"max_tokens": 10}, "answers": {"max_tokens": 20}},
    }
    return validate(SweepConfig, values | changes)


def test_the_cells_are_the_product_and_share_their_models_answers(tmp_path: Path) -> None:
    cells = config(tmp_path).cells()
    names = [f"{model}/{change}-t{t}" for model in "ab" for change in ("full", "half") for t in ("0", "0.7")]
    assert [cell.name for cell in cells] == names
    for model, own in by_model(cells).items():
        first, *others = own
        assert first.config.answers_from is None
        assert {cell.config.answers_from for cell in others} == {tmp_path / "sweep" / model / "full-t0"}
    last = cells[-1].config
    assert (last.sampling.temperature, last.sampling.max_tokens) == (0.7, 10)
    assert last.perturbation is not None and last.perturbation.options == {"fraction": 0.5}
    assert (last.model, last.run_dir) == ("models/b", tmp_path / "sweep" / "b" / "half-t0.7")


def test_a_model_can_speak_on_the_answers_of_another_and_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "summary.json").write_text("{}")
    answers = {"own": None, "by-b": "b", "old": str(tmp_path / "old")}
    cells = config(tmp_path, answers_from=answers, temperatures=[0.0], perturbations={"full": None}).cells()
    sweep = tmp_path / "sweep"
    assert [(cell.name, cell.config.answers_from) for cell in cells] == [
        ("a/full-t0", None),
        ("b/full-t0", None),
        ("b/old-full-t0", tmp_path / "old"),
        ("a/by-b-full-t0", sweep / "b" / "full-t0"),
        ("a/old-full-t0", tmp_path / "old"),
    ]


def test_answers_that_all_are_of_a_model_make_every_pair_of_models_once(tmp_path: Path) -> None:
    cells = config(tmp_path, answers_from={"of-a": "a", "of-b": "b"}).cells()
    assert len(cells) == len({cell.name for cell in cells}) == 2 * 2 * 2 * 2
    made = []
    for cell in cells:
        source = cell.config.answers_from
        assert source is None or source in made
        made.append(cell.config.run_dir)


def test_table_2_has_every_model_once_and_base_first(tmp_path: Path) -> None:
    sweep = config(tmp_path, base="b", answers_from={"own": None, "on-b": "b"})
    own, cross = sweep.compared(sweep.cells())
    assert [(cell.name, cell.config.name) for cell in own] == [("b/full-t0", "b"), ("a/full-t0", "a")]
    assert [cell.name for cell in cross] == ["a/on-b-full-t0"]
    alone = config(tmp_path, base="a")
    assert alone.compared(alone.cells())[1] == []


def test_no_answers_are_generated_where_none_are_asked_for(tmp_path: Path) -> None:
    cells = config(tmp_path, answers_from={"of-a": "a"}).cells()
    assert [cell.name for cell in cells if cell.config.answers_from is None] == ["a/full-t0"]
    assert {cell.config.answers_from for cell in cells if cell.model == "b"} == {tmp_path / "sweep" / "a" / "full-t0"}


def test_a_model_may_have_a_sampling_of_its_own(tmp_path: Path) -> None:
    models = {"a": {"model": "models/a", "format": "smollm2", "sampling": {"top_p": 0.5}}}
    sampling = config(tmp_path, models=models).cells()[1].config.sampling
    assert (sampling.temperature, sampling.top_p, sampling.max_tokens) == (0.7, 0.5, 10)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": {}}, "models: there must be at least one"),
        ({"models": {"../x": {}}}, r"models: '\.\./x' is not a valid folder name"),
        ({"temperatures": []}, "temperatures"),
        ({"perturbations": {"half": {"name": "truncate"}}}, "the first must be null"),
        ({"answers_from": {}}, "answers_from: there must be at least one"),
        ({"base": "c"}, "base: 'c' is not one of the models, which are a, b"),
        ({"base": "a", "answers_from": {"on-b": "b"}}, "base: Table 2 needs the models on their own answers"),
        ({"probe": {"tasks": {"pocket": {}}, "run_dir": "x"}}, r"probe\.run_dir: the sweep sets it for each cell"),
        ({"models": {"a": {"answers_from": "x"}}}, r"models\.a\.answers_from: the sweep sets it"),
        ({"models": {"a": {"sampling": {"temperature": 1}}}}, r"models\.a\.sampling\.temperature: the sweep sets it"),
    ],
)
def test_a_sweep_that_cannot_work_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config(tmp_path, **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"perturbations": {"full": None, "x": {"name": "shout"}}}, "cell a/x-t0: .*no 'shout' in eval/perturb.py"),
        ({"perturbations": {"full": None, "x": {"name": "truncate", "part": 1}}}, "cell a/x-t0: unknown key 'part'"),
        ({"probe": {"tasks": {"pocket": {}}, "smapling": {}}}, "cell a/full-t0: unknown key 'smapling'"),
        ({"temperatures": [0.0, -1.0]}, "cell a/full-t-1: sampling.temperature"),
        ({"temperatures": [0.0, 0.7, 0.0]}, "two cells have the name a/full-t0; give each temperature once"),
        (
            {"answers_from": {"x": "runs/none"}},
            r"answers_from\.x: runs/none is neither a model of this sweep nor a fin",
        ),
    ],
)
def test_a_cell_that_cannot_work_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config(tmp_path, **changes).cells()


def dialogues() -> list[Dialogue]:
    """Six questions, two answers of the data, a turn of a real user and a row that could not be loaded."""
    questions = [Dialogue("toy", (Message("user", "why?"),), meta={"row": row}) for row in range(6)]
    held_out = [Dialogue("toy", (Message("user", f"{row}?"), Message("assistant", "so"))) for row in range(2)]
    real = Dialogue("toy_real_user", (Message("user", "oh"),), meta={"source": "real_user"})
    return [*questions, *held_out, real, replace(questions[0], failure=Failure("load", "no_response"), id="f")]


def test_work_is_what_the_folder_lacks(tmp_path: Path) -> None:
    first, second, *_ = config(tmp_path).cells()
    assert work_of(first, dialogues(), 0.5) == Work(first, 10, missing=10, tokens=6 * 20 + 8 * 10, dollars=4.5)
    assert work_of(second, dialogues(), None) == Work(second, 10, missing=10, tokens=8 * 10, dollars=None)


def test_on_the_answers_of_another_model_only_its_questions_are_work(tmp_path: Path) -> None:
    cells = config(tmp_path, answers_from={"own": None, "by-b": "b"}).cells()
    assert {cell.name for cell in cells if cell.cross} == {cell.name for cell in cells if "by-b" in cell.name}
    cross = next(cell for cell in cells if cell.cross)
    assert work_of(cross, dialogues(), 0.5) == Work(cross, 6, missing=6, tokens=6 * 10, dollars=3.0)


def test_rows_count_as_done_once_and_where_they_will_not_be_tried_again(tmp_path: Path) -> None:
    cell = config(tmp_path).cells()[0]
    cell.config.run_dir.mkdir(parents=True)
    rows = dialogues()
    passing, lasting = Failure("judge", "timeout"), Failure("generate", "context_too_long")
    with RowStore(cell.config.run_dir / "rows.jsonl") as store:
        for failure in (passing, passing, None):
            store.append("1", replace(rows[0], failure=failure))
        store.append("2", replace(rows[1], failure=lasting))
        store.append("3", replace(rows[2], failure=passing))
        store.append("4", Dialogue("another row", (Message("user", "?"),)))
    assert work_of(cell, rows, 0.5) == Work(cell, 10, missing=8, tokens=4 * 20 + 6 * 10, dollars=3.5)
    with (cell.config.run_dir / "rows.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(ConfigError, match="line 7 is not a valid row"):
        work_of(cell, rows, 0.5)


def test_speed_is_that_of_the_sessions_so_far(tmp_path: Path) -> None:
    assert measured_speed([tmp_path]) is None
    sessions = [
        {"tokens": {"user": 100, "assistant": 300, "prompt": 9}, "seconds": {"user_turns": 4, "assistant_turns": 1}},
        {"wall_s": 3},
        {"tokens": {}, "seconds": {"user_turns": 0.0}},
        {"tokens": {"user": 100}, "seconds": {"user_turns": 5, "judging": 99}},
    ]
    (tmp_path / "manifest.json").write_text(json.dumps({"sessions": sessions}))
    assert measured_speed([tmp_path, tmp_path / "not yet"]) == 50.0


class CountingSpeaker:
    """Says as many tokens as it is told, and notes which dialogues it was given in which role."""

    def __init__(self, tokens: int) -> None:
        self.said, self.tokens = tokens, Counter[str]()
        self.asked: list[tuple[str, list[str]]] = []

    def speak(self, dialogues: Sequence[Dialogue], role: str, sampling: Sampling) -> Iterator[tuple[str, Dialogue]]:
        self.asked.append((role, [dialogue.task for dialogue in dialogues]))
        for dialogue in dialogues:
            self.tokens[role] += min(self.said, sampling.max_tokens)
            yield dialogue.id, dialogue


def test_speed_is_sampled_on_answers_to_questions_of_every_task(tmp_path: Path) -> None:
    cell = config(tmp_path).cells()[0]
    rows = [Dialogue(task, (Message("user", f"{row}?"),)) for task in "abcd" for row in range(40)]
    speaker = CountingSpeaker(3)
    assert (sampled_speed(speaker, [*dialogues()[6:], *rows], cell) or 0) > 0  # type: ignore[arg-type]
    _, (role, tasks) = speaker.asked
    assert (role, Counter(tasks)) == ("assistant", {"a": 4, "b": 4, "c": 4, "d": 4})


def test_speed_is_sampled_on_user_turns_where_there_is_no_question(tmp_path: Path) -> None:
    cell = config(tmp_path).cells()[0]
    speaker = CountingSpeaker(3)
    sampled_speed(speaker, dialogues()[6:], cell)  # type: ignore[arg-type]
    assert speaker.asked == [("user", ["toy"]), ("user", ["toy", "toy"])]


def test_a_model_that_says_nothing_has_no_speed(tmp_path: Path) -> None:
    cell = config(tmp_path).cells()[0]
    assert sampled_speed(CountingSpeaker(0), dialogues(), cell) is None  # type: ignore[arg-type]
    assert sampled_speed(CountingSpeaker(9), [], cell) is None  # type: ignore[arg-type]


def test_the_estimate_adds_up(tmp_path: Path) -> None:
    cells = config(tmp_path).cells()
    works = [Work(cells[0], 8, 8, 200, 1.25), Work(cells[-1], 8, 0, 0, 0.0)]
    table = estimate_table(works, {"a": 50.0, "b": 100.0})
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["a/full-t0", "8", "8", "200", "0:00:04", "1.25"],
        ["b/half-t0.7", "8", "0", "0", "0:00:00", "0.00"],
        ["all", "16", "8", "200", "0:00:04", "1.25"],
    ]


def test_what_is_not_known_makes_the_sum_unknown(tmp_path: Path) -> None:
    cells = config(tmp_path).cells()
    works = [Work(cells[0], 8, 8, 200, None), Work(cells[-1], 8, 1, 100, 2.0)]
    table = estimate_table(works, {"a": None, "b": 100.0})
    assert [[cell.text for cell in row[4:]] for row in table.rows] == [
        ["unknown", "unknown"],
        ["0:00:01", "2.00"],
        ["unknown", "unknown"],
    ]
    assert table.notes == ("a: unknown speed", "b: 100 tokens a second")
