"""Items: distinct turns of runs, with the judgements of all runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval.dialogue import Dialogue, Failure, Message
from eval.finished_runs import read_runs
from eval.gated_text import GATED
from eval.review_bench.items import ReviewItem, find_items

MakeRun = Callable[..., Path]


def test_what_several_rows_hold_comes_once_with_the_judgements_of_all(make_run: MakeRun, row_of: Any) -> None:
    first = make_run("first", [row_of("gsm8k", 1), row_of("gsm8k", 2)], temperature=0.0)
    again = make_run(
        "again", [row_of("gsm8k", 1, "generic_followup", True, judge="other-2")], judge="other-2", temperature=0.0
    )
    warm = make_run("warm", [row_of("gsm8k", 1)], temperature=1.0)
    found = find_items(read_runs([first, again, warm]))
    assert [item.dialogue.messages[0].text for item in found.items] == ["gsm8k query 1", "gsm8k query 2"]
    assert [(j.judge, j.genuine) for j in found.items[0].judgements] == [("local-1", False), ("other-2", True)]
    assert found.items[0].temperature == 0.0 and found.left_out == {"repeated": 2}


def test_equal_texts_are_one_item_whoever_wrote_them_and_other_roles_or_turns_are_another(
    make_run: MakeRun, row_of: Any
) -> None:
    rows = [row_of("gsm8k", 1), row_of("gsm8k", 2, turn="Why not?")]
    other = [row_of("gsm8k", 1, model="other@9"), row_of("gsm8k", 2, turn="Why?")]
    found = find_items(read_runs([make_run("a", rows), make_run("b", other, model="other@9")]))
    assert len(found.items) == 3 and len({item.dialogue.id for item in found.items}) == 3


def test_rows_without_a_turn_are_left_out_and_counted_and_unjudged_ones_are_not(make_run: MakeRun, row_of: Any) -> None:
    unjudged = replace(row_of("gsm8k", 1), judgement=None, failure=Failure("judge", "timeout"))
    failed = Dialogue("gsm8k", (Message("user", "q"),), failure=Failure("generate", "context_too_long"))
    gated = replace(row_of("gpqa", 2), meta=GATED)
    runs = read_runs([make_run("run", [unjudged, failed, gated])])
    found = find_items(runs)
    assert [item.judgements for item in found.items] == [()]
    assert found.left_out == {"no user turn": 1, "gated": 1}
    assert len(find_items(runs, allow_gated_text=True).items) == 2


def test_a_real_user_has_no_temperature_and_reasoning_is_not_kept(make_run: MakeRun, row_of: Any) -> None:
    row = row_of("coval", 1)
    answer = replace(row.messages[1], reasoning="secret")
    rows = [
        replace(row, messages=(row.messages[0], answer, row.messages[2])),
        replace(row_of("coval", 2), meta={"source": "real_user"}),
    ]
    generated, real = find_items(read_runs([make_run("run", rows, temperature=0.7)])).items
    assert generated.temperature == 0.7 and real.temperature is None
    assert "secret" not in json.dumps(generated.to_json())
    assert ReviewItem.from_json(json.loads(json.dumps(generated.to_json()))) == generated
