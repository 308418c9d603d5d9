"""A sweep: its cells, what it would cost, and that nothing is made twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError, validate
from eval.dialogue import Dialogue, Message
from eval.sweep import by_model
from eval.sweep_config import Cell, SweepConfig
from eval.sweep_estimate import Work, estimate_table, measured_speed, work_of


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
        ({"models": {"../x": {}}}, r"models: '\.\./x' is no name for a folder"),
        ({"temperatures": []}, "temperatures"),
        ({"perturbations": {"half": {"name": "truncate"}}}, "the first must be null"),
        ({"answers_from": {}}, "answers_from: there must be at least one"),
        ({"probe": {"tasks": {"pocket": {}}, "run_dir": "x"}}, r"probe\.run_dir: the sweep sets it in each cell"),
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
        ({"temperatures": [0.0, 0.7, 0.0]}, "two cells are named a/full-t0; give each temperature once"),
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
    questions = [Dialogue("toy", (Message("user", "why?"),), meta={"row": row}) for row in range(6)]
    return questions + [dialogue.says(Message("assistant", "so")) for dialogue in questions[:2]]


def test_work_is_what_the_folder_lacks(tmp_path: Path) -> None:
    first, second, *_ = config(tmp_path).cells()
    assert work_of(first, dialogues()) == Work(first, rows=8, missing=8, tokens=6 * 20 + 8 * 10)
    assert work_of(second, dialogues()) == Work(second, rows=8, missing=8, tokens=8 * 10)
    first.config.run_dir.mkdir(parents=True)
    (first.config.run_dir / "rows.jsonl").write_text("{}\n" * 6)
    assert work_of(first, dialogues()) == Work(first, rows=8, missing=2, tokens=50)


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


def test_the_estimate_adds_up(tmp_path: Path) -> None:
    cells = config(tmp_path).cells()
    works = [Work(cells[0], 8, 8, 200), Work(cells[-1], 8, 0, 0)]
    table = estimate_table(works, {"a": 50.0, "b": 100.0})
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["a/full-t0", "8", "8", "200", "0:00:04"],
        ["b/half-t0.7", "8", "0", "0", "0:00:00"],
        ["all", "16", "8", "200", "0:00:04"],
    ]
    assert isinstance(cells[0], Cell)
