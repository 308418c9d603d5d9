"""Complete the run folder of one probe: whatever it lacks is spoken, graded and judged, then the tables are written.

`turns.jsonl` (generated turns) and `rows.jsonl` (finished rows) grow row by row; `summary.json` comes last.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from eval import progress, table_formats
from eval.client.spender import spending, start_spending
from eval.config import ConfigError
from eval.data_files import files_read
from eval.dialogue import Dialogue
from eval.gated_text import displayable
from eval.judge import used_between
from eval.probe_config import ProbeConfig
from eval.probe_parts import ProbeParts, open_parts
from eval.resources import ResourceCache
from eval.rows import RowStore
from eval.run_dir import RunDir, write_atomically
from eval.shard import mark
from eval.stages import Changed, Turns, decide
from eval.summary import TaskSummary, summarise
from eval.table import Table
from eval.tables import table2
from eval.time_spent import CLOCK, profiled, spent, spent_since
from eval.tracked_results import report_probe

logger = logging.getLogger(__name__)


def probe(
    config: ProbeConfig, display: progress.Progress = progress.shown, opened: ResourceCache | None = None
) -> tuple[list[TaskSummary], list[Table]]:
    """Complete the run folder of `config`; returns what its rows add up to, and the tables of that.

    Args:
        display: shows how far each stage is.
        opened: data, models and judges that probes share, and with a judge its budget.

    Raises:
        ConfigError: a setting cannot work, or the folder holds rows of another protocol.
    """
    time_before = CLOCK.seconds()
    with spent("open"):
        parts = open_parts(config, opened or ResourceCache())
    used_before = parts.judge.measured
    with (
        RunDir(config.run_dir, config, parts.protocol, parts.selection) as run,
        open_rows(run.path / "rows.jsonl") as rows,
        profiled(run.path / "profile.pstats" if config.profile else None),
    ):
        mark(run.path, parts.shard)
        start_spending("judge", parts.judge, run.path)
        missing = [dialogue for dialogue in parts.tasks.dialogues if rows.missing(parts.key(dialogue))]
        run.measured |= {"data_files": files_read(), "training": dict(parts.speaker.training)}
        try:
            with open_rows(run.path / "turns.jsonl") as turns:
                spoken = speak(parts, missing, turns, run, display)
                judge(parts, spoken, len(missing), rows, run, display)
        finally:
            judged = used_between(used_before, parts.judge.measured)
            run.measured |= {"tokens": dict(parts.speaker.tokens), "judge": judged}
            run.measured |= {"time_spent": spent_since(time_before)}
        if more := len(rows) - len(parts.tasks.dialogues):
            logger.warning("%d rows of this protocol from earlier settings are in the folder and count too", more)
        return complete(run, config, parts.protocol, rows)


def speak(
    parts: ProbeParts, dialogues: list[Dialogue], turns: RowStore, run: RunDir, display: progress.Progress
) -> Iterable[Dialogue]:
    """The dialogues with their user turn, on the answer of the data, another run or the model, perturbed if asked."""
    config = parts.config
    answered: Turns | Changed
    if parts.stored is None:
        answered = Turns(dialogues, "assistant", parts.speaker, config.answers, turns, after=parts.grade)
        with run.timed("assistant_turns"):
            answered.generate(display)
    else:
        answered = Changed(dialogues, parts.stored)
    perturbed = Changed(answered, parts.perturbation) if parts.perturbation else answered
    spoken = Turns(perturbed, "user", parts.speaker, config.sampling, turns)
    with run.timed("user_turns"):
        spoken.generate(display)
    return spoken


def judge(
    parts: ProbeParts, spoken: Iterable[Dialogue], missing: int, rows: RowStore, run: RunDir, display: progress.Progress
) -> None:
    """Append every spoken dialogue to `rows`, judged or with its failure."""
    total = len(parts.tasks.dialogues)
    note = partial(spending, judge=parts.judge)
    with run.timed("judging"), display("judging", total, total - missing, note=note) as advance:
        for row in decide(spoken, parts.judge):
            rows.append(parts.key(row), row)
            advance()


def complete(
    run: RunDir, config: ProbeConfig, protocol: Mapping[str, Any], rows: RowStore
) -> tuple[list[TaskSummary], list[Table]]:
    """Write the tables of the rows as markdown, CSV and JSON, and last the summary; returns summaries and tables.

    Raises:
        ConfigError: no row was judged, and it isn't a shard, whose few rows may all have failed.
    """
    summaries = summarise(rows)
    if not any(summary.judged for summary in summaries):
        if not config.shard:
            raise ConfigError(nothing_judged(rows))
        logger.warning("%s", nothing_judged(rows))
    told = table2.Protocol.of(protocol)
    tables = table2.build(config.name or Path(config.model).name, summaries, told)
    for ending, text in (
        ("md", table_formats.to_markdown),
        ("csv", table_formats.to_csv),
        ("json", table_formats.to_json),
    ):
        write_atomically(run.path / f"table2.{ending}", text(tables))
    run.finish({"protocol": asdict(told), "tasks": [asdict(summary) for summary in summaries]})
    if not config.shard:
        read = run.measured.get("data_files", {})
        report_probe(config, run.path, protocol, summaries, tables, read)
    return summaries, tables


def nothing_judged(rows: Iterable[Dialogue]) -> str:
    """The error of a run in which every row failed, with the most common failure."""
    failures = [row.failure for row in map(displayable, rows) if row.failure]
    kinds = Counter((failure.stage, failure.kind) for failure in failures)
    ((stage, kind), times), *_ = kinds.most_common()
    detail = next(failure.detail for failure in failures if failure.kind == kind)
    return f"no row was judged: {times} of {len(failures)} failed to {stage} ({kind}), such as: {detail or 'no detail'}"


def open_rows(path: Path) -> RowStore:
    """The row store at `path`.

    Raises:
        ConfigError: it cannot be opened, or is damaged.
    """
    try:
        return RowStore(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}" if isinstance(error, OSError) else str(error)) from error
