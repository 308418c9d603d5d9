"""The budget of a teacher is that of the data set, over all starts of the command."""

from __future__ import annotations

import json
import runpy
from contextlib import suppress
from pathlib import Path
from typing import Any

from data_gen.data_set_run import generate
from data_gen.generate_config import GenerateConfig
from eval.config import ConfigError, validate
from eval.progress import silent

SERVER = Path(__file__).parent.parent / "eval" / "client" / "judge_server.py"
JudgeServer = runpy.run_path(str(SERVER))["JudgeServer"]


def test_all_starts_together_spend_the_budget_of_the_teacher_once(tmp_path: Path, evaluation_dir: Path) -> None:
    def start(budget: float) -> tuple[int, dict[str, Any]]:
        teacher = {"name": "openai", "model": "gpt-5.4-mini", "base_url": server.url, "api_key_variable": None}
        teacher |= {"cache": None, "concurrency": 1, "budget_usd": budget}
        fields = {"name": "small", "out_dir": tmp_path / "set", "data_dir": evaluation_dir, "conversations": 12}
        fields |= {"seeds": {"gsm8k": {}, "written": {"limit": 4}}, "filters": {"near_duplicates": None}}
        before = len(server.requests)
        with suppress(ConfigError):  # a teacher that says one thing: nothing may be kept
            generate(validate(GenerateConfig, {**fields, "teacher": teacher}), silent)
        spent = json.loads((tmp_path / "set" / "work" / "manifest.json").read_text())["spent"]["teacher"]
        return len(server.requests) - before, spent

    with JudgeServer(answer=lambda body: json.dumps({"message": "What does the first step add up to?"})) as server:
        first, spent = start(0.02)
        assert first > 0 and spent["requests"] == first and 0 < spent["dollars"] <= 0.02
        assert start(0.02) == (0, spent)
        more, in_all = start(0.04)
        assert more > 0 and in_all["requests"] == first + more and spent["dollars"] < in_all["dollars"] <= 0.04
