"""Completes the folder of a data set: makes and judges the missing conversations, then filters and writes all of them.

In `work/`, `made.jsonl` and `judged.jsonl` grow row by row. The data files are written from them in the order of the
plans; `manifest.json` is written last and marks a complete data set.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from functools import partial

from data_gen.data_set import DataSet, changed_settings, publish, unpublish
from data_gen.filtering import Filtered, decide, joined, read
from data_gen.generate_config import GenerateConfig
from data_gen.generation_parts import GenerationParts, open_parts
from data_gen.tracking import log_data_set
from data_gen.turn_judging import judge_turns, with_verdicts
from eval import progress
from eval.client.spender import spending, start_spending
from eval.config import ConfigError
from eval.data_files import files_read
from eval.judge import used_between
from eval.probe_run import open_rows
from eval.rows import RowStore
from eval.run_dir import RunDir, refuse_working_folder

logger = logging.getLogger(__name__)


def generate(
    config: GenerateConfig, display: progress.Progress = progress.shown, parts: GenerationParts | None = None
) -> DataSet:
    """Complete the folder of `config`; returns its data set.

    Raises:
        ConfigError: a setting cannot work, or no conversation is kept.
    """
    refuse_working_folder(config.folder)
    parts = parts or open_parts(config)
    work = config.folder / "work"
    # Rows of other settings do no harm: the key of a conversation is a hash of what determines it.
    with (
        RunDir(work, config, {}, {"seed": None, "tasks": {}}, packages=("eval", "data_gen")) as run,
        open_rows(work / "made.jsonl") as made,
        open_rows(work / "judged.jsonl") as judged,
    ):
        if changed := changed_settings(parts):
            logger.warning(
                "the finished data set in %s is replaced, because its settings differ (%s); "
                "to keep both, give each its own --out-dir",
                config.folder,
                "; ".join(changed),
            )
        unpublish(config.folder)
        run.measured["data_files"] = files_read()
        start_spending("teacher", parts.teacher, run.path)
        start_spending("judge", parts.judge, run.path)
        before = parts.teacher.measured, parts.judge.measured
        try:
            with run.timed("making"):
                make(parts, made, display)
            with run.timed("filtering"):
                filtered = keep(parts, made, judged, display)
        finally:
            run.measured["teacher"] = used_between(before[0], parts.teacher.measured)
            run.measured["judge"] = used_between(before[1], parts.judge.measured)
        if not filtered.kept:
            raise ConfigError(nothing_kept(filtered))
        data_set = publish(config.folder, parts, filtered)
        run.finish({"kept": len(filtered.kept), "rejected": filtered.reasons()})
        log_data_set(config, config.folder, filtered)
        return data_set


def make(parts: GenerationParts, made: RowStore, display: progress.Progress) -> None:
    """Append every conversation that `made` lacks."""
    missing = [plan for plan in parts.plans if made.missing(parts.key(plan))]
    total = len(parts.plans)
    note = partial(spending, teacher=parts.teacher)
    with (
        display("conversations", total, total - len(missing), note=note) as advance,
        closing(parts.teacher.converse(missing)) as conversing,
    ):
        for plan, dialogue in conversing:
            made.append(parts.key(plan), dialogue)
            advance()


def keep(parts: GenerationParts, made: RowStore, judged: RowStore, display: progress.Progress) -> Filtered:
    """Filter and judge every conversation of the plans."""
    with display("filtering", len(parts.plans)) as advance:
        readable = read((made.get(parts.key(plan)) for plan in parts.plans), parts.context, advance)
    judge_turns(readable.kept, parts.judge, judged, display)
    verdicts = (with_verdicts(dialogue, parts.judge, judged) for dialogue in readable.kept)
    return joined(readable, decide(verdicts, parts.context))


def nothing_kept(filtered: Filtered) -> str:
    """The error of a run that keeps no conversation, with the most common reason."""
    reasons: Iterable[tuple[str, int]] = Counter(reject.reason.name for reject in filtered.rejects).most_common()
    ((name, times), *_) = reasons
    detail = next(reject.reason.detail for reject in filtered.rejects if reject.reason.name == name)
    total = len(filtered.rejects)
    return f"no conversation is kept: {times} of {total} were rejected as {name}, such as: {detail or 'no detail'}"
