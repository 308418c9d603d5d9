"""Table 2 for several models: one row per model, each metric next to the paper's value, with evidence and verdict.

Pure: a comparison in, tables out. Layout: arXiv 2604.02315, Table 2, followed by supporting tables. Rates are the
judge's, uncorrected; with labels, corrected rates are added. The verdicts are defined in
`eval/model_comparison/verdict.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from eval.labels import LABELS
from eval.model_comparison.comparison import Comparison, MeasuredFigure
from eval.model_comparison.correction import Correction
from eval.model_comparison.measured_model import MeasuredModel
from eval.model_comparison.metric import Metric
from eval.paper.headings import heading, place
from eval.paper.lineup import line_up
from eval.paper.model_table import subject, summary_of
from eval.paper.published import read_paper
from eval.stats.rates import Rate
from eval.table import UNKNOWN, Cell, Table
from eval.tables.corrected_rates import CORRECTED, corrected_cells, judges_table
from eval.tables.table2 import NOT_POOLED, TRUNCATED, other_judges

MARK = "\u2020"
"""Marks the name of a model that was measured under another protocol."""
RATES = (
    "95 % Wilson score intervals; n=known/all where rows have no outcome. Rates are raw, not corrected for the judge's "
    "errors{where}."
)
PAPER = (
    "In parentheses: the paper's value (arXiv 2604.02315, Table 2; trained with PPO and judged by GPT-5.4 models, so "
    "compare directions before values). Its n is inferred from its rates: "
)
VERDICTS = (
    "reproduced: the paper's value lies in the interval and, except for Base, the difference to Base is significant in "
    "the paper's direction. contradicted: the difference is significant in the opposite direction, or the value is "
    "further away than both sampling errors explain. not run: the run lacks the task. not resolved: anything else."
)
TESTS = (
    "difference: in points on the rows with an outcome in both (n), 95 % interval of Bonett and Price. p: two-sided "
    "exact McNemar test on these rows, adjusted over this table by Holm."
)
UNJUDGED = "unjudged: rows without a judgement, or for accuracy without a grade; they count in no rate."
CROSS = (
    "User turns of every model on the answers of {base}, compared with the user turns of {base}: the difference that "
    "remains when the answers are the same."
)
QUESTIONS = "An answer that ends in a question invites a follow-up from any model; compare the cross condition."
Link = Callable[[MeasuredFigure], str]
"""The URL of the rows of a cell."""


def build(comparison: Comparison, link: Link | None = None, correction: Correction | None = None) -> list[Table]:
    """The overview, the metrics one by one, the cross condition, answers that end in a question, and labels per task.

    A correction adds corrected rates to each metric, and a table of the judges' errors.
    """
    tables = [_overview(comparison, link, correction is not None), _metric_by_metric(comparison, link, correction)]
    if correction:
        tables.append(judges_table(correction))
    if comparison.cross:
        tables.append(_cross(comparison, link))
    if comparison.metrics:
        tables.append(_questions(comparison))
    return [*tables, *_labels(comparison)]


def _overview(comparison: Comparison, link: Link | None, corrected: bool) -> Table:
    rows = []
    for model in comparison.models:
        cells = [cell for cell in comparison.cells if cell.model is model]
        rows.append((Cell(_display_name(comparison, model)), *(_with_verdict(cell, link) for cell in cells)))
    columns = ("model", *(metric.heading for metric in comparison.metrics))
    return Table("Table 2: models side by side", columns, tuple(rows), tuple(_notes(comparison, corrected)))


def _with_verdict(cell: MeasuredFigure, link: Link | None) -> Cell:
    rate = _rate(cell, link, with_n=True)
    return replace(rate, text=f"{rate.text} {cell.finding.verdict}".removeprefix(f"{UNKNOWN} "))


def _rate(cell: MeasuredFigure, link: Link | None, with_n: bool = False) -> Cell:
    """The rate, followed by the paper's value if there is one."""
    evidence, claim = cell.evidence, cell.claim
    rate = Cell.rate(evidence.rate, with_n, evidence.total) if evidence.total else Cell(UNKNOWN)
    shown = rate.beside(claim.value) if claim else rate
    return replace(shown, link=link(cell)) if link and evidence.total else shown


def _metric_by_metric(comparison: Comparison, link: Link | None, correction: Correction | None) -> Table:
    base = comparison.base.name
    raw = ("model, metric", "raw % (paper)", *CORRECTED) if correction else ("model, metric", "% (paper)")
    columns = (*raw, "n", "unjudged", "specific %", f"difference to {base}", "p (Holm)", "verdict", "because")
    rows = [
        (*_measured_cells(comparison, cell, link, correction), Cell(cell.finding.verdict), Cell(cell.finding.because))
        for cell in comparison.cells
    ]
    notes = (TESTS, UNJUDGED, *(() if comparison.without_claims else (VERDICTS,)))
    return Table("Table 2, metric by metric", columns, tuple(rows), notes)


def _measured_cells(
    comparison: Comparison, cell: MeasuredFigure, link: Link | None, correction: Correction | None = None
) -> tuple[Cell, ...]:
    """Name, rate, corrected rates if asked for, n, unjudged rows, specific rate, difference to Base and its p-value."""
    evidence, pairs = cell.evidence, cell.evidence.pairs
    name = f"{_display_name(comparison, cell.model)}, {cell.metric.heading.removesuffix(' %')}"
    return (
        Cell(name),
        _rate(cell, link),
        *(corrected_cells(correction, cell) if correction else ()),
        Cell.number(evidence.rate.n),
        Cell.number(evidence.total - evidence.rate.n),
        Cell.rate(cell.specific) if cell.specific else Cell(UNKNOWN),
        Cell.estimate(pairs.difference, pairs.interval(), pairs.n) if pairs else Cell(UNKNOWN),
        Cell.p_value(evidence.p_base),
    )


def _cross(comparison: Comparison, link: Link | None) -> Table:
    """The user turns of Base first, then those of the others on the same answers."""
    base = comparison.base
    rows: list[tuple[Cell, ...]] = []
    for task in sorted({cell.metric.task for cell in comparison.cross}, key=place):
        own = summary_of(base.summaries, task, "self-generated")
        name = Cell(f"{base.name}, {heading(task)}")
        if own:
            rate = Cell.rate(own.genuine, total=own.total)
            counts = (Cell.number(own.genuine.n), Cell.number(own.unjudged), Cell.rate(own.specific))
            rows.append((name, rate, *counts, Cell(UNKNOWN), Cell(UNKNOWN)))
        for cell in (cell for cell in comparison.cross if cell.metric.task == task):
            _, *cells = _measured_cells(comparison, cell, link)
            rows.append((Cell(f"{_display_name(comparison, cell.model)}, {heading(task)}"), *cells))
    columns = ("model, task", "genuine %", "n", "unjudged", "specific %", f"difference to {base.name}", "p (Holm)")
    notes = (CROSS.format(base=base.name), TESTS)
    return Table(f"Cross condition: user turns on the answers of {base.name}", columns, tuple(rows), notes)


def _questions(comparison: Comparison) -> Table:
    """How many of each model's own answers end in a question."""
    tasks = [metric.task for metric in comparison.metrics if metric.setting == "self-generated"]
    columns = list(dict.fromkeys(tasks))
    rows = []
    for model in comparison.models:
        found = [summary_of(model.summaries, task, "self-generated") for task in columns]
        shares = (Cell.rate(summary.questions, with_n=True) if summary else Cell(UNKNOWN) for summary in found)
        rows.append((Cell(_display_name(comparison, model)), *shares))
    headings = ("model", *(f"{heading(task)} %" for task in columns))
    return Table("Answers that end in a question", headings, tuple(rows), (QUESTIONS,))


def _labels(comparison: Comparison) -> Iterator[Table]:
    """One table per task: the share of each label among the judged user turns of each model."""
    shown = dict.fromkeys((metric.task, metric.setting) for metric in comparison.metrics)
    for task, setting in shown:
        found = [(model, summary_of(model.summaries, task, setting)) for model in comparison.models]
        measured = [(model, summary) for model, summary in found if summary and summary.judged]
        given = {label for _, summary in measured for label in summary.labels}
        rows = [
            (Cell(label), *(Cell.share(Rate(s.labels.get(label, 0), s.judged)) for _, s in measured))
            for label in [*LABELS, *sorted(given - set(LABELS))]
        ]
        if measured:
            names = (_display_name(comparison, model) for model, _ in measured)
            yield Table(f"Labels of the user turns, {subject(task, setting)}", ("label", *names), tuple(rows))


def _display_name(comparison: Comparison, model: MeasuredModel) -> str:
    return f"{model.name} {MARK}" if model.name in comparison.marks else model.name


def _notes(comparison: Comparison, corrected: bool) -> Iterator[str]:
    """How the numbers were made, and what to know before comparing them."""
    runs = [model.run for model in comparison.models]
    judge, history = comparison.base.run.protocol["judge"], comparison.base.run.protocol["history"]
    yield f"Judge {judge}; history {history}; user turns at temperature {comparison.base.run.temperature:g}."
    yield " ".join(f"{model.name} is {model.run.protocol['model']}." for model in comparison.models)
    yield from _reward_judges(comparison.models, judge)
    if not comparison.marks:
        yield f"All rows: {line_up(runs).common}."
    yield RATES.format(where="; corrected rates are in the table metric by metric" if corrected else "")
    yield NOT_POOLED
    yield TRUNCATED
    yield from _paper_notes(comparison)
    for name, found in comparison.marks.items():
        yield f"WARNING: {MARK} {name} was measured differently from {comparison.base.name}: {'; '.join(found)}."
    for model in comparison.models:
        for warning in other_judges(model.summaries, judge):
            yield f"{model.name}: {warning}"


def _reward_judges(models: Sequence[MeasuredModel], judge: str) -> Iterator[str]:
    """The reward judge of each model trained with one, as a warning if it is also the judge of this table."""
    for model in models:
        reward_judge = model.run.training.get("reward_judge")
        if reward_judge == judge:
            yield f"WARNING: {model.name} was trained on rewards of this judge, so its follow-up rates are not valid."
        elif reward_judge:
            yield f"{model.name} was trained on rewards of {reward_judge}."


def _paper_notes(comparison: Comparison) -> Iterator[str]:
    if comparison.without_claims:
        yield f"No paper value: {comparison.without_claims}."
        return
    paper = read_paper()
    published = [metric for metric in comparison.metrics if _is_published(metric)]
    yield PAPER + ", ".join(f"{heading(metric.task)} {paper.rows[metric.task]}" for metric in published) + "."
    yield VERDICTS
    names = {model.name.casefold() for model in comparison.models[1:]} | {"base"}
    if missing := [row for row in paper.tables["table2"].rows if row.casefold() not in names]:
        yield f"Not run: the paper's {' and '.join(missing)}; runs are matched by the name in their configuration."


def _is_published(metric: Metric) -> bool:
    return {"task": metric.task, "measure": metric.measure} in read_paper().tables["table2"].columns
