"""A folder is completed: what is missing is made, what fails is counted, the same plans give the same files."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data_gen.data_set import finished
from data_gen.data_set_run import generate
from data_gen.generate_config import GenerateConfig
from data_gen.generation_parts import GenerationParts, open_parts
from data_gen.plan import Plan
from data_gen.teacher import conversation
from eval import plugin
from eval.config import ConfigError, validate
from eval.dialogue import Dialogue, Failure, Message
from eval.progress import silent

FILES = ("conversations.jsonl", "solutions.jsonl", "rejects.jsonl", "README.md")
Fails = Callable[[Plan], Failure | None]


class Tiny:
    """Asks about the first words of the seed's response, and remembers which plans it was given."""

    cost_bound = 0.01

    def __init__(self, id: str = "tiny-1", fails: Fails = lambda plan: None, stop_after: int | None = None) -> None:
        self.id, self.fails, self.stop_after = id, fails, stop_after
        self.given: list[int] = []

    @property
    def measured(self) -> dict[str, Any]:
        return {"turns": 2 * len(self.given)}

    def converse(self, plans: Iterable[Plan]) -> Generator[tuple[Plan, Dialogue], None, None]:
        for plan in reversed(list(plans)):
            if self.stop_after == len(self.given):
                raise KeyboardInterrupt
            self.given.append(plan.number)
            yield plan, conversation(plan, self._turns(plan), self.id, failure=self.fails(plan))

    def _turns(self, plan: Plan) -> list[Message]:
        words = plan.seed.messages[-1].text.split()
        about = [" ".join(words[start : start + 3]) for start in range(len(plan.styles))]
        said = [[f'What do you mean by "{text}", and why {plan.number}?', f"By {text} I mean it."] for text in about]
        return [Message(r, t, self.id) for pair in said for r, t in zip(("user", "assistant"), pair, strict=True)]


def config(folder: Path, data: Path, **fields: Any) -> GenerateConfig:
    small = {
        "name": "small",
        "out_dir": folder,
        "data_dir": data,
        "conversations": 12,
        "seeds": {"gsm8k": {}, "written": {"limit": 4}},
        "filters": {"near_duplicates": None},
    }
    return validate(GenerateConfig, {**small, **fields})


def parts_with(config: GenerateConfig, teacher: Tiny) -> GenerationParts:
    return replace(open_parts(config), teacher=teacher)


def written(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in FILES}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_folder_has_data_a_card_and_last_a_manifest(tmp_path: Path, evaluation_dir: Path) -> None:
    made = config(tmp_path / "set", evaluation_dir)
    data_set = generate(made, silent)
    folder = data_set.folder
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["files"].keys() == set(FILES)
    for name, entry in manifest["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == entry["sha256"]
        assert entry["rows"] in (None, len((folder / name).read_text().splitlines()))
    kept = [Dialogue.from_json(row) for row in lines(folder / "conversations.jsonl")]
    rejects = lines(folder / "rejects.jsonl")
    assert len(kept) + len(rejects) == manifest["summary"]["made"] == 12
    assert kept and [one.meta["plan"] for one in kept] == sorted(one.meta["plan"] for one in kept)
    for one in kept:
        assert one.task == "collab" and one.meta["teacher"] == manifest["teacher"]
        assert len(one.meta["judged"]) == len(one.meta["styles"])
        assert one.messages[one.meta["seed_turns"] :][0].by == manifest["teacher"]
    assert set(manifest["leak_check"]["rows"]) == set(plugin.names("eval.tasks"))
    assert manifest["leak_check"]["missing"] == []
    assert "gsm8k/train.jsonl" in manifest["data_files"] and str(tmp_path) not in json.dumps(manifest)
    assert (folder / "work" / "summary.json").is_file()


def test_solutions_are_the_seeds_with_a_right_answer(tmp_path: Path, evaluation_dir: Path) -> None:
    generate(config(tmp_path, evaluation_dir), silent)
    solutions = [Dialogue.from_json(row) for row in lines(tmp_path / "solutions.jsonl")]
    assert len(solutions) == 8 and all(one.correct and one.task == "gsm8k" for one in solutions)
    assert {one.meta["split"] for one in solutions} == {"train"}


def test_only_what_is_missing_is_made(tmp_path: Path, evaluation_dir: Path) -> None:
    made = config(tmp_path, evaluation_dir)
    generate(made, silent, parts_with(made, first := Tiny()))
    before = written(tmp_path)
    assert sorted(first.given) == list(range(12))
    generate(made, silent, parts_with(made, second := Tiny()))
    assert second.given == [] and written(tmp_path) == before
    more = config(tmp_path, evaluation_dir, conversations=15)
    generate(more, silent, parts_with(more, third := Tiny()))
    assert sorted(third.given) == [12, 13, 14]
    assert (tmp_path / "conversations.jsonl").read_text().startswith(before["conversations.jsonl"])
    generate(made, silent, parts_with(made, fourth := Tiny()))
    assert fourth.given == [] and written(tmp_path) == before, "fewer conversations are the first ones"
    generate(made, silent, parts_with(made, other := Tiny("tiny-2")))
    assert len(other.given) == 12, "another teacher says other things"


def test_an_interrupted_run_resumes_and_writes_the_same_files(tmp_path: Path, evaluation_dir: Path) -> None:
    whole = config(tmp_path / "a" / "set", evaluation_dir)
    generate(whole, silent, parts_with(whole, Tiny()))
    halved = config(tmp_path / "b" / "set", evaluation_dir)
    with pytest.raises(KeyboardInterrupt):
        generate(halved, silent, parts_with(halved, Tiny(stop_after=5)))
    assert not (halved.folder / "manifest.json").exists()
    generate(halved, silent, parts_with(halved, rest := Tiny()))
    assert len(rest.given) == 7
    assert written(halved.folder) == written(whole.folder)


def test_a_rerun_is_incomplete_until_it_is_done(tmp_path: Path, evaluation_dir: Path) -> None:
    made = config(tmp_path, evaluation_dir)
    generate(made, silent, parts_with(made, Tiny()))
    with pytest.raises(KeyboardInterrupt):
        generate(made, silent, parts_with(made, Tiny("tiny-2", stop_after=1)))
    assert not (tmp_path / "manifest.json").exists()


def test_a_failure_is_a_reject_and_is_tried_again(tmp_path: Path, evaluation_dir: Path) -> None:
    made = config(tmp_path, evaluation_dir)
    fails: Fails = lambda plan: Failure("generate", "budget", "spent") if plan.number % 3 == 0 else None  # noqa: E731
    data_set = generate(made, silent, parts_with(made, Tiny(fails=fails)))
    assert data_set.summary.rejected["budget"] == 4
    rejects = [row for row in lines(tmp_path / "rejects.jsonl") if row["reason"] == "budget"]
    assert {(row["stage"], row["detail"]) for row in rejects} == {("generate", "spent")}
    generate(made, silent, parts_with(made, again := Tiny()))
    assert sorted(again.given) == [0, 3, 6, 9]


def test_a_finished_data_set_is_read_with_its_failures(tmp_path: Path, evaluation_dir: Path) -> None:
    made = config(tmp_path / "set", evaluation_dir)
    failures = [Failure("generate", "timeout"), Failure("load", "x"), Failure("generate", "nothing_to_react_to")]
    fails: Fails = lambda plan: dict(enumerate(failures)).get(plan.number)  # noqa: E731
    parts = parts_with(made, Tiny(fails=fails))
    assert finished(parts) is None
    data_set = generate(made, silent, parts)
    assert data_set.summary.failed == {"timeout": 1}, "the others would fail again"
    assert finished(parts_with(made, Tiny())) == data_set


@pytest.mark.parametrize("change", ["config", "teacher", "seeds", "data", "file", "no manifest", "torn manifest"])
def test_a_data_set_of_other_settings_or_a_changed_one_is_not_finished(
    tmp_path: Path, evaluation_dir: Path, change: str
) -> None:
    data = tmp_path / "data"
    shutil.copytree(evaluation_dir, data)
    seeds = data / "seeds.jsonl"
    row = {"messages": [{"role": "user", "content": "Is it so?"}, {"role": "assistant", "content": "So it is."}]}
    seeds.write_text(json.dumps(row) + "\n")
    settings: dict[str, Any] = {"seeds": {"gsm8k": {}, "jsonl": {"file": seeds}}}
    made = config(tmp_path / "set", data, **settings)
    generate(made, silent, parts_with(made, Tiny()))
    teacher = Tiny("tiny-2" if change == "teacher" else "tiny-1")
    if change == "config":
        settings["filters"] = {"near_duplicates": None, "user_words": [2, 120]}
    elif change == "seeds":
        seeds.write_text(json.dumps(row).replace("So it is", "Or not") + "\n")
    elif change == "data":
        rows = data / "gsm8k" / "test.jsonl"
        rows.write_text(rows.read_text() + "\n")
    elif change == "file":
        (tmp_path / "set" / "conversations.jsonl").write_text("")
    elif change == "no manifest":
        (tmp_path / "set" / "manifest.json").unlink()
    elif change == "torn manifest":
        (tmp_path / "set" / "manifest.json").write_text("{")
    assert finished(parts_with(config(tmp_path / "set", data, **settings), teacher)) is None


def test_a_finished_data_set_is_replaced_with_a_warning_that_names_what_changed(
    tmp_path: Path, evaluation_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = config(tmp_path / "set", evaluation_dir)
    generate(made, silent, parts_with(made, Tiny()))
    generate(made, silent, parts_with(made, Tiny()))
    warnings = lambda: [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]  # noqa: E731
    assert not warnings()
    other = config(tmp_path / "set", evaluation_dir, seed=1, conversations=8, exchanges=[2, 3])
    generate(other, silent, parts_with(other, Tiny("tiny-2")))
    assert warnings() == [
        f"the finished data set in {tmp_path / 'set'} is replaced, because its settings differ "
        "(conversations: 12 there, 8 now; exchanges: [2, 4] there, [2, 3] now; "
        "seed: 0 there, 1 now; teacher: 'tiny-1' there, 'tiny-2' now); "
        "to keep both, give each its own --out-dir"
    ]
    (tmp_path / "set" / "manifest.json").write_text('{"config": []}')
    generate(made, silent, parts_with(made, Tiny()))
    assert len(warnings()) == 1


def test_nothing_kept_is_an_error_that_says_why(tmp_path: Path, evaluation_dir: Path) -> None:
    made = config(tmp_path, evaluation_dir)
    fails: Fails = lambda plan: Failure("generate", "timeout", "no reply in 60 s")  # noqa: E731
    with pytest.raises(ConfigError, match=r"12 of 12 were rejected as timeout, such as: no reply in 60 s"):
        generate(made, silent, parts_with(made, Tiny(fails=fails)))
    assert not (tmp_path / "manifest.json").exists()


def test_a_leaking_seed_stops_the_run_or_is_dropped(
    tmp_path: Path, evaluation_dir: Path, evaluation_texts: dict[str, str]
) -> None:
    rows = [
        {"messages": [{"role": "user", "content": query}, {"role": "assistant", "content": "So it is, in all."}]}
        for query in ["Is it so?", evaluation_texts["healthbench ideal"]]
    ]
    seeds = tmp_path / "seeds.jsonl"
    seeds.write_text("".join(json.dumps(row) + "\n" for row in rows))
    leaking = {"seeds": {"jsonl": {"file": seeds}}}
    with pytest.raises(ConfigError, match=r"1 seeds contain text of .*healthbench row 0; .*leak_check\.seeds: drop"):
        open_parts(config(tmp_path / "a", evaluation_dir, **leaking))
    made = config(tmp_path / "b", evaluation_dir, **leaking, leak_check={"seeds": "drop"})
    data_set = generate(made, silent, parts_with(made, Tiny()))
    assert data_set.summary.seeds == {"jsonl": 1} and data_set.summary.seeds_refused == {"leak": 1}
    (refused,) = (row for row in lines(made.folder / "rejects.jsonl") if row["stage"] == "seed")
    assert refused["reason"] == "leak" and "knee" not in json.dumps(refused)
    assert "1 seeds were dropped for such an overlap" in (made.folder / "README.md").read_text()


def test_a_generated_leak_is_rejected_and_quoted_nowhere(
    tmp_path: Path, evaluation_dir: Path, evaluation_texts: dict[str, str]
) -> None:
    text = evaluation_texts["gpqa right"]

    class Leaking(Tiny):
        def _turns(self, plan: Plan) -> list[Message]:
            turns = super()._turns(plan)
            return [*turns[:-1], replace(turns[-1], text=f"Take {text}.")] if plan.number == 5 else turns

    made = config(tmp_path, evaluation_dir)
    data_set = generate(made, silent, parts_with(made, Leaking()))
    assert data_set.summary.rejected["leak"] == 1
    assert not any("nitrogen" in content for content in written(tmp_path).values())


def test_seeds_with_a_wrong_answer_are_dropped(tmp_path: Path, evaluation_dir: Path) -> None:
    made = config(tmp_path, evaluation_dir, seeds={"gsm8k": {}})
    parts = open_parts(made)
    assert len(parts.seeds["gsm8k"]) == 8
    from data_gen.seed_filters import seed_reason

    seed = parts.seeds["gsm8k"][0]
    wrong = replace(seed, messages=(seed.messages[0], Message("assistant", "#### 1")))
    reason = seed_reason(wrong, parts.context)
    assert reason is not None and reason.name == "wrong_answer"
    limits = replace(parts.context, limits=parts.context.limits.model_copy(update={"correct_answers": False}))
    assert seed_reason(wrong, limits) is None and seed_reason(seed, parts.context) is None


def test_missing_evaluation_files_are_named_in_the_card(tmp_path: Path, evaluation_dir: Path) -> None:
    (tmp_path / "data" / "gsm8k").mkdir(parents=True)
    for name in ("train", "test"):
        content = (evaluation_dir / "gsm8k" / f"{name}.jsonl").read_bytes()
        (tmp_path / "data" / "gsm8k" / f"{name}.jsonl").write_bytes(content)
    with pytest.raises(ConfigError, match="leak_check: no local file"):
        open_parts(config(tmp_path / "a", tmp_path / "data"))
    made = config(tmp_path / "b", tmp_path / "data", leak_check={"tasks": ["gsm8k", "ifeval"], "missing": "warn"})
    generate(made, silent, parts_with(made, Tiny()))
    card = (made.folder / "README.md").read_text()
    assert "a row of: gsm8k (1 rows)" in card
    assert "Not compared with" in card and "gpqa (not requested)" in card and "ifeval (no file)" in card


def test_an_unknown_language_is_rejected_before_generation(tmp_path: Path, evaluation_dir: Path) -> None:
    with pytest.raises(ConfigError, match=r"filters\.language: 'english' is not supported; supported are .*en"):
        open_parts(config(tmp_path, evaluation_dir, filters={"language": "english"}))


def test_two_runs_at_once_are_refused(tmp_path: Path, evaluation_dir: Path) -> None:
    made = config(tmp_path, evaluation_dir)

    class Second(Tiny):
        def converse(self, plans: Iterable[Plan]) -> Generator[tuple[Plan, Dialogue], None, None]:
            with pytest.raises(ConfigError, match="another process works in"):
                generate(made, silent, parts_with(made, Tiny()))
            yield from super().converse(plans)

    assert generate(made, silent, parts_with(made, Second())).summary.made == 12
