"""`python -m train.rl` on a tiny model: a complete run folder, a resumed run, and refused settings."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eval.dialogue import Dialogue
from eval.rows import read_rows
from eval.weights import model_folder
from train import kernels, rl_training
from train.rl import main
from train.training_log import TrainingLog, read_log

Run = Callable[..., int]
SERVER = Path(__file__).parent.parent / "eval" / "client" / "judge_server.py"
JudgeServer = runpy.run_path(str(SERVER))["JudgeServer"]


pytestmark = pytest.mark.usefixtures("lively")


@pytest.fixture
def run(tiny_folders: dict[str, Path], tmp_path: Path) -> Run:
    """(**options by their dotted names with __) -> exit status of a run of three steps in tmp_path/run."""

    def start(architecture: str = "llama", **options: Any) -> int:
        given = {
            "model": tiny_folders[architecture],
            "format": "qwen3_5" if architecture == "qwen3_5" else "smollm2",
            "prompts__arithmetic__limit": 8,
            "answer_tokens": 6,
            "user_tokens": 5,
            "max_episodes": 24,
            "rewards__gsm8k__weight": 1,
            "rewards__followup__weight": 1,
            "judge": "grounding",
            "trl__per_device_train_batch_size": 8,
            "trl__num_generations": 4,
            "trl__save_steps": 1,
            "run_dir": tmp_path / "run",
        }
        chosen = {name: value for name, value in {**given, **options}.items() if value is not None}
        pairs = [(f"--{name.replace('__', '.')}", str(value)) for name, value in chosen.items()]
        return main([token for pair in pairs for token in pair])

    return start


def test_a_run_leaves_a_complete_folder(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    folder = tmp_path / "run"
    assert [line["step"] for line in read_log(folder / "log.jsonl")] == [1, 2, 3]
    episodes = list(read_rows(folder / "episodes.jsonl"))
    assert len(episodes) == 24
    assert [episode.meta["episode"]["step"] for episode in episodes[::8]] == [0, 1, 2]
    for episode in episodes:
        assert [message.role for message in episode.messages] == ["user", "assistant", "user"]
        assert episode.judgement.judge == "grounding-2" and set(episode.meta["episode"]["rewards"]) == {
            "gsm8k",
            "followup",
        }
    assert model_folder(folder / "model") and (folder / "adapters").is_dir()
    card = (folder / "model" / "README.md").read_text()
    assert card.startswith("---\nlibrary_name") and "Judged by `grounding-2`" in card and "base_model" not in card
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["steps"] == 3 and summary["reward_judge"] == "grounding-2"
    protocol = json.loads((folder / "manifest.json").read_text())["protocol"]
    assert protocol["user_turn_after"] == "as_history" and protocol["temperature"] == 1.0
    assert "mean gsm8k of the first steps 0.000" in capsys.readouterr().out
    assert run() == 0  # finished: only told again
    assert len((folder / "log.jsonl").read_text().splitlines()) == 3


def test_a_resumed_run_equals_an_uninterrupted_one(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(run_dir=tmp_path / "whole") == 0
    append, calls = TrainingLog.append, []

    def killed(self: Any, step: int, metrics: Any) -> None:
        append(self, step, metrics)
        calls.append(step)
        if step == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TrainingLog, "append", killed)
        assert run() == 130
    assert run() == 0
    whole, resumed = (logged(tmp_path / name) for name in ("whole", "run"))
    assert calls == [1, 2] and list(resumed) == [1, 2, 3]
    assert resumed == whole
    assert all(line["grad_norm"] > 0 for line in whole.values())
    said = [[e.messages for e in read_rows(tmp_path / name / "episodes.jsonl")] for name in ("whole", "run")]
    assert said[0] == said[1]


def test_a_run_that_was_stopped_resumes_with_what_is_left_of_its_budget(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An episode costs $0.000133 and needs $0.002 to be left: the budget is for some 15 of 24."""
    paid = {"judge__model": "gpt-5.4-nano", "judge__api_key_variable": "null", "judge__canary": "false"}
    append = TrainingLog.append

    def killed(self: Any, step: int, metrics: Any) -> None:
        append(self, step, metrics)
        if step == 1:
            raise KeyboardInterrupt

    with JudgeServer() as server:
        paid |= {"judge": "openai", "judge__base_url": server.url, "judge__cache": tmp_path / "first"}
        with monkeypatch.context() as patch:
            patch.setattr(TrainingLog, "append", killed)
            assert run(**paid, judge__budget_usd=0.004) == 130
        assert 0 < len(server.requests) <= 8
        paid["judge__cache"] = tmp_path / "second"  # nothing is known before
        assert run(**paid, judge__budget_usd=0.004) == 0
        asked = len(server.requests)
        assert 8 < asked < 20 and f"judge ${asked * 0.000133:.2f} of $0.00" in capsys.readouterr().err
        manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
        assert manifest["spent"]["judge"]["requests"] == asked
        assert manifest["sessions"][0]["judge"]["questions"]["judged"] <= 8
        assert run(**paid, judge__budget_usd=9) == 0  # no other protocol
        assert len(server.requests) == asked


def logged(folder: Path) -> dict[int, dict[str, Any]]:
    """The last metrics of each step, times aside."""
    timed = {"step_time", "num_tokens"}
    return {
        line["step"]: {name: value for name, value in line.items() if name not in timed}
        for line in read_log(folder / "log.jsonl")
    }


def test_qwen_plays_and_says_that_its_user_turns_follow_another_rendering(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("qwen3_5", max_episodes=8) == 0
    assert "follows the answer as it was sampled" in " ".join(capsys.readouterr().out.split())
    protocol = json.loads((tmp_path / "run" / "manifest.json").read_text())["protocol"]
    assert protocol["user_turn_after"] == "as_last"


def test_linear_attention_without_its_kernels_is_refused_on_a_gpu(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def on_gpu(trainer: Any) -> Any:
        return SimpleNamespace(config=trainer.model.config, device=SimpleNamespace(type="cuda"))

    monkeypatch.setattr(rl_training, "language_model", on_gpu)
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    assert run("qwen3_5") == 2
    assert "or --allow-slow" in capsys.readouterr().err
    assert run("qwen3_5", allow_slow=True) == 0


def test_a_user_turn_alone_is_played_on_stored_answers(
    run: Run, tmp_path: Path, write_dialogues: Callable[..., Path], make_conversation: Callable[..., Dialogue]
) -> None:
    path = write_dialogues(tmp_path / "stored.jsonl", [make_conversation(n) for n in range(4)])
    alone = {"episode": "user_turn", "prompts__arithmetic__limit": None, "rewards__gsm8k__weight": None}
    assert run(**alone, prompts__dialogues__path=path, max_episodes=8) == 0
    for episode in read_rows(tmp_path / "run" / "episodes.jsonl"):
        assert [message.by for message in episode.messages][:-1] == ["data"] * 4
        assert episode.messages[-1].by == "RL@step-000000"
        assert set(episode.meta["episode"]["rewards"]) == {"followup"}


def test_the_judge_that_evaluates_does_not_reward_unless_allowed(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(judge="local", dry_run="true") == 2
    assert "allow_same_judge" in capsys.readouterr().err
    assert run(judge="local", allow_same_judge="true", dry_run="true") == 0
    assert run(judge="grounding", probe__tasks__pocket__limit=1, probe__judge="grounding", dry_run="true") == 2


def test_a_dry_run_makes_nothing(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(dry_run="true") == 0
    assert not (tmp_path / "run").exists()
    out = capsys.readouterr().out
    assert "3 steps of 8 episodes, 4 of a prompt" in out and "1 x gsm8k, 1 x followup" in out


def test_a_run_with_other_settings_is_refused(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(max_episodes=8) == 0
    assert run(max_episodes=8, temperature=0.5) == 2
    assert "temperature: 1.0 there, 0.5 now" in capsys.readouterr().err


def test_prompts_that_leave_no_room_are_named(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(answer_tokens=400, dry_run="true") == 2
    assert "prompts.arithmetic row" in capsys.readouterr().err


def test_a_gradient_that_is_not_finite_stops_the_run_at_its_step(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("train.rollout.Episode.token_credit", property(lambda self: [float("nan")] * len(self.roles)))
    assert run() == 2
    assert "step 1: the loss is nan" in capsys.readouterr().err
    assert not list((tmp_path / "run" / "checkpoints").glob("checkpoint-*"))


def test_the_probe_finds_accuracy_and_its_fall_has_a_price(run: Run, tmp_path: Path) -> None:
    probe = {"probe__tasks__arithmetic__limit": 2, "probe__every": 1, "probe__answers__max_tokens": 4}
    assert run(**probe, probe__sampling__max_tokens=4, accuracy_price__margin=0, max_episodes=16) == 0
    lines = list(read_log(tmp_path / "run" / "log.jsonl"))
    assert [line["step"] for line in lines if "probe" in line] == [0, 1, 2]
    assert [line["weight/gsm8k"] for line in lines if "loss" in line] == [1.0, 1.0]
