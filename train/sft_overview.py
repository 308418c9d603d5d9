"""What a fine-tuning run trains on, as a table: examples, tokens, share of the loss, what was left out."""

from __future__ import annotations

from eval.table import Cell, Table
from train.sft_parts import SftParts

COLUMNS = ("source", "examples", "tokens", "trained tokens", "share of the loss %", "longest")


def overview(parts: SftParts) -> Table:
    """One row per source; notes on what was left out and on the number of steps."""
    mixture = parts.mixture
    loss = {source: sum(e.trained * e.weight for e in examples) for source, examples in mixture.examples.items()}
    rows = [
        (
            Cell(source),
            Cell.number(len(examples)),
            Cell.number(sum(len(example.input_ids) for example in examples)),
            Cell.number(sum(example.trained for example in examples)),
            Cell.number(100 * loss[source] / sum(loss.values()), 1),
            Cell.number(max((len(example.input_ids) for example in examples), default=0)),
        )
        for source, examples in mixture.examples.items()
    ]
    left_out = [f"{source}, {reason}: {count}" for (source, reason), count in sorted(mixture.left_out.items())]
    notes = [f"left out: {'; '.join(left_out)}"] if left_out else []
    notes.append(f"{parts.steps} steps of {parts.batch} examples: {parts.division}")
    return Table("Training examples", COLUMNS, tuple(rows), tuple(notes))
