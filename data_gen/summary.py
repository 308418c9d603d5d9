"""Summary statistics of a data set and their tables: made, kept, rejected by reason, labels, styles, diversity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from data_gen.diversity import Diversity, measure
from data_gen.filter_context import generated_by
from data_gen.filtering import Filtered
from data_gen.generation_parts import GenerationParts
from eval.dialogue import PERMANENT
from eval.stats.rates import Rate
from eval.table import Cell, Table

ABOUT = {
    "turns": "generated user turns",
    "distinct_1": "distinct-1",
    "distinct_2": "distinct-2",
    "distinct_3": "distinct-3",
    "different_turns": "different turns without numbers and names",
    "nearest_mean": "overlap with the nearest turn, mean",
    "nearest_p90": "overlap with the nearest turn, 90th percentile",
    "words_mean": "words of a user turn, mean",
    "words_p90": "words of a user turn, 90th percentile",
    "template_bits": "entropy of the phrasings, bits",
    "template_evenness": "entropy of the phrasings over its maximum",
}
"""Field of `Diversity` -> its name in a table."""


@dataclass(frozen=True)
class Summary:
    """Counts of one data set."""

    seeds: Mapping[str, int]
    """Seeds in use, by source."""
    seeds_refused: Mapping[str, int]
    """Rejected seeds, by reason."""
    made: int
    kept: int
    rejected: Mapping[str, int]
    """By reason; together with `kept` they add up to `made`."""
    failed: Mapping[str, int]
    """By kind of the failure: conversations in which the teacher or the judge failed and might succeed next time."""
    rows: Mapping[str, int]
    """Rows by data file."""
    labels: Mapping[str, int]
    """The judge's labels of the kept user turns; a turn without a label counts as "unjudged"."""
    styles: Mapping[str, int]
    questions: Rate
    """Generated responses that end in a question, which by itself raises the follow-up rate."""
    diversity: Diversity

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Summary:
        """The summary in a manifest, which has it as `asdict` gives it."""
        nested = {"questions": Rate(**fields["questions"]), "diversity": Diversity(**fields["diversity"])}
        return cls(**{**fields, **nested})


def summarise(parts: GenerationParts, filtered: Filtered, rows: Mapping[str, int]) -> Summary:
    """Summarise the generated and the kept conversations."""
    kept = filtered.kept
    responses = [text for dialogue in kept for text in generated_by(dialogue, "assistant")]
    phrasings = [name for dialogue in kept for name in dialogue.meta["made"].get("phrasings", [])]
    verdicts = [verdict for dialogue in kept for verdict in dialogue.meta["judged"]]
    return Summary(
        {name: len(found) for name, found in parts.seeds.items()},
        _count(reject.reason.name for reject in parts.refused),
        len(kept) + len(filtered.rejects),
        len(kept),
        filtered.reasons(),
        _count(_failures(filtered)),
        rows,
        _count(verdict["label"] or "unjudged" for verdict in verdicts),
        _count(style for dialogue in kept for style in dialogue.meta["styles"]),
        Rate(sum(text.rstrip().endswith("?") for text in responses), len(responses)),
        measure([text for dialogue in kept for text in generated_by(dialogue, "user")], phrasings),
    )


def _failures(filtered: Filtered) -> Iterator[str]:
    """The kind of failure of each conversation that has one which is not permanent."""
    for dialogue in (*filtered.kept, *(reject.dialogue for reject in filtered.rejects)):
        of_judge = [verdict["failure"] for verdict in dialogue.meta.get("judged", ()) if verdict["failure"]]
        if dialogue.failure and not dialogue.failure.permanent:
            yield dialogue.failure.kind
        elif kinds := [kind for kind in of_judge if kind not in PERMANENT]:
            yield kinds[0]


def tables(counted: Summary) -> list[Table]:
    """Tables for the terminal and the card: conversations kept and rejected, labels, styles, diversity."""
    kept = Rate(counted.kept, counted.made)
    return [
        Table(
            "Conversations",
            ("", "n"),
            (
                (Cell("made"), Cell.number(counted.made)),
                (Cell("kept"), Cell.share(kept)),
                *(
                    (Cell(f"rejected: {name}"), Cell.share(Rate(n, counted.made)))
                    for name, n in counted.rejected.items()
                ),
                *((Cell(f"seeds of {name}"), Cell.number(n)) for name, n in counted.seeds.items()),
                *((Cell(f"seeds rejected: {name}"), Cell.number(n)) for name, n in counted.seeds_refused.items()),
            ),
        ),
        _share_table("Labels of the kept user turns", counted.labels),
        _share_table("Styles of the kept user turns", counted.styles),
        Table(
            "Diversity of the kept user turns",
            ("", "value"),
            (
                *((Cell(ABOUT[name]), _diversity_cell(value)) for name, value in asdict(counted.diversity).items()),
                (Cell("generated responses that end in a question"), Cell.share(counted.questions)),
            ),
        ),
    ]


def _share_table(title: str, counts: Mapping[str, int]) -> Table:
    total = sum(counts.values())
    return Table(title, ("", "n"), tuple((Cell(name), Cell.share(Rate(n, total))) for name, n in counts.items()))


def _diversity_cell(value: float | None) -> Cell:
    return Cell.number(value, 0 if isinstance(value, int) else 3)


def _count(names: object) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))  # type: ignore[call-overload]
