"""Answers prompts with lm-eval's `hf` model and `generate_until`, in its own environment; run by `peers.py`.

python benchmarks/peer_lm_eval.py PROMPTS OUT MODEL MAX_TOKENS BATCH
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

NUMBER = re.compile(r"-?\d[\d,]*")


def grade(row: dict[str, Any], results: list[str]) -> dict[str, float]:
    numbers = NUMBER.findall(results[0])
    return {"correct": float(bool(numbers) and numbers[-1].replace(",", "") == row["reference"])}


def main(prompts: str, out: str, model_folder: str, max_tokens: str, batch: str) -> None:
    from lm_eval import simple_evaluate

    task = {
        "task": "prompts",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": prompts}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": lambda row: row["rendered"],
        "doc_to_target": lambda row: row["reference"],
        "process_results": grade,
        "generation_kwargs": {"until": ["<|im_end|>"], "max_gen_toks": int(max_tokens), "do_sample": False},
        "metric_list": [{"metric": "correct", "aggregation": "mean", "higher_is_better": True}],
    }
    results: Any = simple_evaluate(
        model="hf",
        model_args={"pretrained": model_folder, "dtype": "float32"},
        tasks=[task],
        batch_size=int(batch),
        device="cpu",
        bootstrap_iters=0,
    )
    with Path(out).open("w", encoding="utf-8") as file:
        for sample in results["samples"]["prompts"]:
            row = {"prompt": sample["doc"]["prompt"], "text": sample["resps"][0][0], "correct": sample["correct"] == 1}
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
