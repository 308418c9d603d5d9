"""Grades texts with inspect-ai's `model_graded_qa`, in its own environment; run by `judge.py`.

    python benchmarks/peer_inspect_judge.py URL ROWS CONCURRENCY

ROWS is JSON lines with `query`, `response` and `turn`. Prints the seconds of `eval`, excluding imports, and how many
rows were graded.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def main(url: str, rows_path: str, concurrency: str) -> None:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import GenerateConfig, ModelOutput, get_model
    from inspect_ai.scorer import model_graded_qa
    from inspect_ai.solver import Generate, TaskState, solver

    @solver
    def given() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            state.output = ModelOutput.from_content("given", state.metadata["turn"])
            return state

        return solve

    rows = [json.loads(line) for line in Path(rows_path).read_text(encoding="utf-8").splitlines()]
    limit = int(concurrency)
    grader = get_model(
        "openai-api/local/judge", base_url=url, api_key="none", config=GenerateConfig(max_connections=limit)
    )
    criterion = "The turn reacts to what the response says."

    def task(chosen: list[dict[str, Any]]) -> Task:
        samples = [
            Sample(input=f"{row['query']}\n\n{row['response']}", target=criterion, metadata={"turn": row["turn"]})
            for row in chosen
        ]
        return Task(dataset=MemoryDataset(samples), solver=given(), scorer=model_graded_qa(model=grader))

    settings: dict[str, Any] = {"model": "mockllm/model", "display": "none", "max_samples": 2 * limit}
    with tempfile.TemporaryDirectory() as folder:
        eval(task(rows[:1]), log_dir=folder, **settings)
        started, busy = time.perf_counter(), time.process_time()
        (log,) = eval(task(rows), log_dir=folder, **settings)
        seconds, cpu = time.perf_counter() - started, time.process_time() - busy
        graded = sum(
            1 for sample in log.samples or [] for score in (sample.scores or {}).values() if score.value == "C"
        )
    print(json.dumps({"seconds": seconds, "cpu_s": cpu, "graded": graded}))


if __name__ == "__main__":
    main(*sys.argv[1:])
