"""Answers prompts with the answer stage of our probe; run by `peers.py`.

    python benchmarks/peer_userturn.py CONFIG OUT

CONFIG is a probe configuration in JSON. Loads, generates, grades and stores like `eval/probe_run.py`, but stops before
the user turns; writes one line per row to OUT.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))


def main(config_path: str, out: str) -> None:
    started = time.perf_counter()
    from eval import progress
    from eval.probe_config import ProbeConfig
    from eval.probe_parts import open_parts
    from eval.probe_run import open_rows
    from eval.resources import ResourceCache
    from eval.run_dir import RunDir
    from eval.stages import Turns

    config = ProbeConfig.model_validate_json(Path(config_path).read_text(encoding="utf-8"))
    parts = open_parts(config, ResourceCache())
    seconds = {"imports and data": time.perf_counter() - started}
    with (
        RunDir(config.run_dir, config, parts.protocol, parts.selection) as run,
        open_rows(run.path / "turns.jsonl") as store,
    ):
        started = time.perf_counter()
        parts.speaker.engine.model  # noqa: B018  (reads the weights)
        seconds["weights"] = time.perf_counter() - started
        started = time.perf_counter()
        answers = Turns(parts.tasks.dialogues, "assistant", parts.speaker, config.answers, store, after=parts.grade)
        answers.generate(progress.silent)
        seconds["answers"] = time.perf_counter() - started
        with Path(out).open("w", encoding="utf-8") as file:
            for dialogue in answers:
                answer = dialogue.messages[-1]
                row = {"prompt": dialogue.messages[0].text, "text": answer.text, "correct": dialogue.correct}
                file.write(json.dumps(row) + "\n")
    print(json.dumps({name: round(value, 1) for name, value in seconds.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
