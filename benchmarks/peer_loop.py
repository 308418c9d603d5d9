"""Answers prompts with a plain loop over transformers' `generate`; run by `peers.py`.

    python benchmarks/peer_loop.py PROMPTS OUT MODEL MAX_TOKENS BATCH

What a script of a few lines does: padded batches in file order, the last number of a text compared with the reference,
one output line per row. PROMPTS has the rendered prompt as `rendered`.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

NUMBER = re.compile(r"-?\d[\d,]*")


def main(prompts: str, out: str, model_folder: str, max_tokens: str, batch: str) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(model_folder, padding_side="left")
    model: Any = AutoModelForCausalLM.from_pretrained(model_folder, dtype="float32").eval()
    rows = [json.loads(line) for line in Path(prompts).read_text(encoding="utf-8").splitlines()]
    settings = {"max_new_tokens": int(max_tokens), "do_sample": False, "pad_token_id": tokenizer.eos_token_id}
    with Path(out).open("w", encoding="utf-8") as file:
        for start in range(0, len(rows), int(batch)):
            chosen = rows[start : start + int(batch)]
            texts = [row["rendered"] for row in chosen]
            inputs = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False)
            output = model.generate(**inputs, **settings)[:, inputs["input_ids"].shape[1] :]
            for row, text in zip(chosen, tokenizer.batch_decode(output, skip_special_tokens=True), strict=True):
                numbers = NUMBER.findall(text)
                correct = bool(numbers) and numbers[-1].replace(",", "") == row["reference"]
                file.write(json.dumps({"prompt": row["prompt"], "text": text, "correct": correct}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
