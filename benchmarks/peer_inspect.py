"""Answers prompts with inspect-ai's `hf` provider and a numeric match, in its own environment; run by `peers.py`.

python benchmarks/peer_inspect.py PROMPTS OUT MODEL MAX_TOKENS BATCH
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main(prompts: str, out: str, model_folder: str, max_tokens: str, batch: str) -> None:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import GenerateConfig, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    rows = [json.loads(line) for line in Path(prompts).read_text(encoding="utf-8").splitlines()]
    samples = [Sample(id=place, input=row["prompt"], target=row["reference"]) for place, row in enumerate(rows)]
    settings = GenerateConfig(max_tokens=int(max_tokens), max_connections=int(batch))
    model: Any = get_model(
        "hf/local", config=settings, model_path=model_folder, device="cpu", dtype="float32", do_sample=False
    )
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=match(location="end", numeric=True))
    (log,) = eval(task, model=model, log_dir=str(Path(out).with_suffix(".logs")), display="none")
    if log.status != "success" or log.samples is None:
        raise SystemExit(f"inspect-ai ended with {log.status}: {log.error}")
    with Path(out).open("w", encoding="utf-8") as file:
        for sample in log.samples:
            scores: dict[str, Any] = sample.scores or {}
            row = {"prompt": sample.input, "text": sample.output.completion, "correct": scores["match"].value == "C"}
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
