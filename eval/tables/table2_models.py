"""Table 2 for several models: a row a model, each metric beside the paper's, with its evidence and its verdict.

A comparison in, tables out; pure. Layout: arXiv 2604.02315, Table 2, and behind it what its readers will ask for. Rates
are raw, as the judge decided; with labels, corrected ones stand beside them. What a verdict means is defined in
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
"""Stands behind the name of a model of another protocol."""
RATES = (
    "95 % Wilson score intervals; n=known/all where rows have no outcome. Rates are raw, as the judge decided, not "
    "corrected for its errors{where}."
)
PAPER = (
    "In parentheses: the paper's value (arXiv 2604.02315, Table 2; it trains by PPO and is judged by GPT-5.4 models: "
    "compare directions before values). Its n is inferred from its rates: "
)
VERDICTS = (
    "reproduced: the paper's value lies in the interval, and but for Base the direction against Base is significant "
    "and the paper's. contradicted: the direction is significant and the opposite, or the value is further away than "
    "both sampling errors. not run: the run lacks the task. not resolved: anything else."
)
TESTS = (
    "difference: in points on the rows with an outcome in both (n), 95 % interval of Bonett and Price. p: two-sided "
    "exact McNemar test on these rows, adjusted over this table by Holm."
)
UNJUDGED = "unjudged: rows without a judgement, or for accuracy without a grade; they are in no rate."
CROSS = (
    "User turns on the answers of {base}: what is left of a difference when the answers are the same. {base} speaks on "
    "its own answers here, and every other model is compared with it."
)
QUESTIONS = "An answer that ends in a question invites a follow-up, whoever speaks next; compare the cross condition."
Link = Callable[[MeasuredFigure], str]
"""Where the rows of a cell are to be read."""


def build(comparison: Comparison, link: Link | None = None, correction: Correction | None = None) -> list[Table]:
    """The table itself, its metrics one by one, the cross condition, closing questions, and labels per task.

    With a correction, its rates stand beside the raw ones of each metric, and the judges' error in a table of its own.
    """
    tables = [_overview(comparison, link, correction is not None), _one_by_one(comparison, link, correction)]
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
        rows.append((Cell(_called(comparison, model)), *(_with_verdict(cell, link) for cell in cells)))
    columns = ("model", *(metric.heading for metric in comparison.metrics))
    return Table("Table 2: models side by side", columns, tuple(rows), tuple(_notes(comparison, corrected)))


def _with_verdict(cell: MeasuredFigure, link: Link | None) -> Cell:
    rate = _rate(cell, link, with_n=True)
    return replace(rate, text=f"{rate.text} {cell.finding.verdict}".removeprefix(f"{UNKNOWN} "))


def _rate(cell: MeasuredFigure, link: Link | None, with_n: bool = False) -> Cell:
    """The rate, the paper's value behind it where there is one."""
    evidence, claim = cell.evidence, cell.claim
    rate = Cell.rate(evidence.rate, with_n, evidence.total) if evidence.total else Cell(UNKNOWN)
    shown = rate.beside(claim.value) if claim else rate
    return replace(shown, link=link(cell)) if link and evidence.total else shown


def _one_by_one(comparison: Comparison, link: Link | None, correction: Correction | None) -> Table:
    base = comparison.base.name
    raw = ("model, metric", "raw % (paper)", *CORRECTED) if correction else ("model, metric", "% (paper)")
    columns = (*raw, "n", "unjudged", "specific %", f"difference to {base}", "p (Holm)", "verdict", "because")
    rows = [
        (*_counted(comparison, cell, link, correction), Cell(cell.finding.verdict), Cell(cell.finding.because))
        for cell in comparison.cells
    ]
    notes = (TESTS, UNJUDGED, *(() if comparison.without_claims else (VERDICTS,)))
    return Table("Table 2, metric by metric", columns, tuple(rows), notes)


def _counted(
    comparison: Comparison, cell: MeasuredFigure, link: Link | None, correction: Correction | None = None
) -> tuple[Cell, ...]:
    """Name, rate, corrected rates if asked for, n, unjudged rows, specific rate, difference to Base and its p-value."""
    evidence, pairs = cell.evidence, cell.evidence.pairs
    name = f"{_called(comparison, cell.model)}, {cell.metric.heading.removesuffix(' %')}"
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
    """Base's own turns first, then those of the others on the same answers."""
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
            _, *counted = _counted(comparison, cell, link)
            rows.append((Cell(f"{_called(comparison, cell.model)}, {heading(task)}"), *counted))
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
        rows.append((Cell(_called(comparison, model)), *shares))
    headings = ("model", *(f"{heading(task)} %" for task in columns))
    return Table("Answers that end in a question", headings, tuple(rows), (QUESTIONS,))


def _labels(comparison: Comparison) -> Iterator[Table]:
    """A table a task: the share of each label among the judged user turns of each model."""
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
            names = (_called(comparison, model) for model, _ in measured)
            yield Table(f"Labels of the user turns, {subject(task, setting)}", ("label", *names), tuple(rows))


def _called(comparison: Comparison, model: MeasuredModel) -> str:
    return f"{model.name} {MARK}" if model.name in comparison.marks else model.name


def _notes(comparison: Comparison, corrected: bool) -> Iterator[str]:
    """How the numbers were made, and what must be known before they are compared."""
    runs = [model.run for model in comparison.models]
    judge, history = comparison.base.run.protocol["judge"], comparison.base.run.protocol["history"]
    yield f"Judge {judge}; history {history}; user turns at temperature {comparison.base.run.temperature:g}."
    yield " ".join(f"{model.name} is {model.run.protocol['model']}." for model in comparison.models)
    yield from _rewarded(comparison.models, judge)
    if not comparison.marks:
        yield f"All rows: {line_up(runs).common}."
    yield RATES.format(where="; corrected ones stand in the table metric by metric" if corrected else "")
    yield NOT_POOLED
    yield TRUNCATED
    yield from _of_the_paper(comparison)
    for name, found in comparison.marks.items():
        yield f"WARNING: {MARK} {name} was measured otherwise than {comparison.base.name}: {'; '.join(found)}."
    for model in comparison.models:
        for warning in other_judges(model.summaries, judge):
            yield f"{model.name}: {warning}"


def _rewarded(models: Sequence[MeasuredModel], judge: str) -> Iterator[str]:
    """Which judge has rewarded a model, and a warning where that is the one that has judged it here."""
    for model in models:
        rewarding = model.run.training.get("reward_judge")
        if rewarding == judge:
            yield f"WARNING: {model.name} was rewarded by this judge: its follow-up rates here measure nothing."
        elif rewarding:
            yield f"{model.name} was rewarded by {rewarding}."


def _of_the_paper(comparison: Comparison) -> Iterator[str]:
    if comparison.without_claims:
        yield f"No paper value: {comparison.without_claims}."
        return
    paper = read_paper()
    yield (
        PAPER + ", ".join(f"{heading(f.task)} {paper.rows[f.task]}" for f in comparison.metrics if _published(f)) + "."
    )
    yield VERDICTS
    names = {model.name.casefold() for model in comparison.models[1:]} | {"base"}
    if missing := [row for row in paper.tables["table2"].rows if row.casefold() not in names]:
        yield f"Not run: the paper's {' and '.join(missing)}; a run is taken for one by the name in its configuration."


def _published(metric: Metric) -> bool:
    return {"task": metric.task, "measure": metric.measure} in read_paper().tables["table2"].columns
