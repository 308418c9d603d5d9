"""Counts add up, and the tables show all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from data_gen.filter_context import Reason
from data_gen.filtering import Filtered, Reject
from data_gen.generate_config import GenerateConfig
from data_gen.generation_parts import GenerationParts, open_parts
from data_gen.summary import ABOUT, Summary, summarise, tables
from eval.config import validate
from eval.stats.rates import Rate
from eval.table_formats import to_json, to_markdown

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def parts(evaluation_dir: Path) -> GenerationParts:
    fields = {"name": "ferns", "conversations": 3, "seeds": {"gsm8k": {}, "written": {"limit": 2}}}
    return open_parts(validate(GenerateConfig, {**fields, "data_dir": evaluation_dir}))


@pytest.fixture
def counted(parts: GenerationParts, make_conversation: Make, give_verdicts: Make) -> Summary:
    kept = [
        give_verdicts(make_conversation("Why 200 ml?", "Because it drains?", number=0), "genuine_followup"),
        give_verdicts(
            make_conversation("And in winter?", "Less.", "Thanks!", styles=("extend", "acknowledge"), number=1),
            "generic_followup",
            None,
        ),
    ]
    kept[0] = replace(kept[0], meta={**kept[0].meta, "made": {"phrasings": ["clarify_step/3"]}})
    rejects = [Reject(make_conversation(number=n), "judge", Reason(name)) for n, name in enumerate("aab", 2)]
    return summarise(parts, Filtered(kept, rejects), {"conversations.jsonl": 2})


def test_counts_add_up(counted: Summary) -> None:
    assert (counted.made, counted.kept, counted.rejected) == (5, 2, {"a": 2, "b": 1})
    assert counted.labels == {"generic_followup": 1, "genuine_followup": 1, "unjudged": 1}
    assert counted.styles == {"acknowledge": 1, "clarify_step": 1, "extend": 1}
    assert counted.questions == Rate(1, 2)
    assert counted.diversity.turns == 3 and counted.diversity.template_bits == 0.0
    assert counted.seeds == {"gsm8k": 8, "written": 2}


def test_a_table_shows_all_of_it(counted: Summary) -> None:
    text = to_markdown(tables(counted))
    for expected in ("| made", "rejected: a", "seeds of gsm8k", "unjudged", "clarify_step", *ABOUT.values()):
        assert expected in text, expected
    assert "1 (50.0 %)" in text and to_json(tables(counted))
    assert set(ABOUT) == set(asdict(counted.diversity))
