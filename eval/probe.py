"""Probe a model: it answers, it speaks the next user turn, a judge decides, the tables are written.

    python -m eval.probe --config configs/eval/probe.yaml --data-dir DATA

The run folder gets `turns.jsonl` (generated turns) and `rows.jsonl` (finished rows) as they come, then the tables, and
`summary.json` last. A killed run goes on where it was; a finished one is only read again.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from eval import plugin, progress, table
from eval.config import ConfigError, load
from eval.dialogue import Dialogue, content_hash
from eval.judge import Judge
from eval.perturb import PERTURBATIONS, Perturbation
from eval.probe_config import ProbeConfig
from eval.rows import RowStore
from eval.run_dir import RunDir, write_atomically
from eval.speaker import Speaker
from eval.stages import Changed, Turns, decide
from eval.stored_answers import StoredAnswers
from eval.summary import TaskSummary, summarise
from eval.tables import table2

ABOUT = "Let a model speak the next user turn, judge it, and print the rates of genuine and specific follow-ups."


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns 0 for a complete run, 2 for a setting that cannot work, 130 on Ctrl-C."""
    try:
        config = load(ProbeConfig, sys.argv[1:] if argv is None else argv, prog="python -m eval.probe", about=ABOUT)
        probe(config)
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped; every finished row is kept, and the same command goes on from there", file=sys.stderr)
        return 130
    return 0


def probe(config: ProbeConfig, display: progress.Progress = progress.shown) -> list[TaskSummary]:
    """Complete the run folder of `config`, write and print its tables, and return what they are made of."""
    dialogues, checks = load_tasks(config)
    speaker = open_speaker(config)
    judge: Judge = plugin.load("eval.judges", config.judge.name).Judge(**config.judge.options)
    perturbation = open_perturbation(config, speaker)
    stored = StoredAnswers(config.answers_from) if config.answers_from else None
    protocol = protocol_of(config, speaker, judge, stored)
    key = partial(row_key, content_hash(protocol))
    with RunDir(config.run_dir, config, protocol) as run, RowStore(run.path / "rows.jsonl") as rows:
        missing = [dialogue for dialogue in dialogues if rows.missing(key(dialogue))]
        with RowStore(run.path / "turns.jsonl") as turns:
            own = Turns(missing, "assistant", speaker, config.answers, turns)
            answered = Changed(missing, stored) if stored else own
            graded = Changed(answered, lambda d: replace(d, correct=checks[d.task](d)))
            changed = Changed(graded, perturbation) if perturbation else graded
            spoken = Turns(changed, "user", speaker, config.sampling, turns)
            with run.timed("assistant_turns"):
                if not stored:
                    own.generate(display)
            with run.timed("user_turns"):
                spoken.generate(display)
            with run.timed("judging"), display("judging", len(dialogues), len(dialogues) - len(missing)) as advance:
                for row in decide(spoken, judge):
                    rows.append(key(row), row)
                    advance()
        run.measured["tokens"] = dict(speaker.tokens)
        summaries = summarise(rows.get(key(dialogue)) for dialogue in dialogues)
        write_tables(
            run, summaries, table2.Protocol(speaker.model_id, judge.id, config.history, config.sampling.temperature)
        )
    return summaries


def load_tasks(config: ProbeConfig) -> tuple[list[Dialogue], dict[str, Callable[[Dialogue], bool | None]]]:
    """The dialogues of the chosen tasks, and the grader of each `Dialogue.task`.

    Raises:
        ConfigError: data is missing or malformed, or two rows are the same.
    """
    dialogues: list[Dialogue] = []
    checks: dict[str, Callable[[Dialogue], bool | None]] = {}
    for name, options in config.tasks.items():
        task = plugin.load("eval.tasks", name)
        try:
            loaded = task.load(seed=config.seed, data_dir=config.data_dir, **options)
        except (OSError, ValueError) as error:
            raise ConfigError(f"tasks.{name}: {error}") from error
        dialogues += loaded
        checks |= {dialogue.task: task.check for dialogue in loaded}
    repeated = [id for id, times in Counter(dialogue.id for dialogue in dialogues).items() if times > 1]
    if repeated:
        raise ConfigError(f"{len(repeated)} rows occur twice in the data, first {repeated[0]}; remove the copies")
    return dialogues, checks


def open_speaker(config: ProbeConfig) -> Speaker:
    """The model of `config` with its chat format; weights are read when the first turn is generated."""
    from transformers import AutoTokenizer

    from eval.weights import model_digest, model_folder

    folder = model_folder(config.model, config.revision)
    chat_format = plugin.load("eval.formats", config.format.name).Format(
        AutoTokenizer.from_pretrained(folder), history=config.history, **config.format.options
    )
    engine = plugin.load("eval.engines", config.engine.name).Engine(folder, **config.engine.options)
    return Speaker(engine, chat_format, model_id=f"{folder.name}@{model_digest(folder)[:12]}")


def open_perturbation(config: ProbeConfig, speaker: Speaker) -> Perturbation | None:
    """The change of the answers that `config` asks for."""
    if config.perturbation is None:
        return None
    make = PERTURBATIONS[config.perturbation.name]
    return make(speaker.chat_format.tokenizer, **config.perturbation.options)


def protocol_of(config: ProbeConfig, speaker: Speaker, judge: Judge, stored: StoredAnswers | None) -> dict[str, Any]:
    """What rows must share to be added up."""
    return {
        "model": speaker.model_id,
        "format": speaker.chat_format.name,
        "format_options": dict(speaker.chat_format.options),
        "template_sha": speaker.chat_format.template_sha,
        "history": speaker.chat_format.history,
        "engine": config.engine.name,
        "answers": config.answers.model_dump(),
        "sampling": config.sampling.model_dump(),
        "answers_from": stored.by if stored else None,
        "perturbation": config.perturbation.model_dump() if config.perturbation else None,
        "judge": judge.id,
    }


def row_key(protocol_sha: str, dialogue: Dialogue) -> str:
    """The key of a finished row: the protocol and the dialogue as it was loaded."""
    return content_hash([protocol_sha, dialogue.id])


def write_tables(run: RunDir, summaries: list[TaskSummary], protocol: table2.Protocol) -> None:
    """Print the tables, write them as markdown, CSV and JSON, and complete the run."""
    tables = table2.build("Base", summaries, protocol)
    for ending, text in (("md", table.to_markdown), ("csv", table.to_csv), ("json", table.to_json)):
        write_atomically(run.path / f"table2.{ending}", text(tables))
    run.finish({"protocol": asdict(protocol), "tasks": [asdict(summary) for summary in summaries]})
    print(table.to_terminal(tables, shutil.get_terminal_size().columns))
    print(f"run folder: {run.path}")


if __name__ == "__main__":
    raise SystemExit(main())
