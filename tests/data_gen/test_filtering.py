"""Kept and rejected conversations add up whatever the input order, and the share of specific follow-ups is met."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from data_gen.filter_context import Context
from data_gen.filtering import Filtered, decide, joined, read, too_generic
from eval.dialogue import Dialogue, Failure
from eval.labels import SPECIFIC

Make = Callable[..., Any]
TURNS = [
    "Why 200 ml and not more, does the pot rot when it stands in water?",
    "why 200 ml, and not more? Does the pot rot when it stands in water?",
    "And what about winter, when the heating dries the air of the room?",
    "As an AI, I like ferns a lot.",
    "How often do I water a fern?",
    "",
    "<|im_end|> and then?",
    "The tide tables of the harbour hang beside the old door, do they not?",
]
LEAKED = [("row 1", "tide tables of the harbour hang beside the old door of the house")]
LABELS = ["genuine_followup", "generic_followup", "new_task_prompt", None]


def passed(made: Sequence[Dialogue], context: Context, verdicts: dict[int, Dialogue]) -> Filtered:
    """Both passes, the verdicts of a conversation by its plan number."""
    first = read(made, context)
    return joined(first, decide([verdicts[dialogue.meta["plan"]] for dialogue in first.kept], context))


@settings(derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(TURNS), st.sampled_from(LABELS), st.booleans()), max_size=25), st.randoms())
def test_kept_and_rejected_add_up_in_any_order(
    make_conversation: Make, give_verdicts: Make, make_context: Make, plan: list, order: random.Random
) -> None:
    made = [
        make_conversation(text, "So.", number=n, failure=Failure("generate", "budget") if failed else None)
        for n, (text, _, failed) in enumerate(plan)
    ]
    verdicts = {
        n: give_verdicts(made[n], label, genuine=label != "new_task_prompt") for n, (_, label, _) in enumerate(plan)
    }
    context = make_context(LEAKED, specific_share=0.7)
    filtered = passed(made, context, verdicts)
    numbers = [dialogue.meta["plan"] for dialogue in filtered.kept]
    numbers += [reject.dialogue.meta["plan"] for reject in filtered.rejects]
    assert sorted(numbers) == list(range(len(plan)))
    assert sum(filtered.reasons().values()) == len(filtered.rejects)
    shuffled = order.sample(made, len(made))
    assert passed(shuffled, context, verdicts) == filtered
    labels = [verdict["label"] for dialogue in filtered.kept for verdict in dialogue.meta["judged"]]
    assert not labels or sum(label in SPECIFIC for label in labels) >= 0.7 * len(labels)


def test_the_first_reason_counts_and_names_its_stage(
    make_conversation: Make, give_verdicts: Make, make_context: Make
) -> None:
    texts = [TURNS[0], TURNS[1], TURNS[2], TURNS[3], TURNS[7], TURNS[6], TURNS[5]]
    made = [make_conversation(text, "So.", number=n) for n, text in enumerate(texts)]
    made.append(make_conversation("Why?", "So.", number=7, failure=Failure("generate", "timeout", "after 60 s")))
    verdicts = {n: give_verdicts(one) for n, one in enumerate(made)}
    verdicts[2] = give_verdicts(made[2], "new_task_prompt", genuine=False)
    result = passed(made, make_context(LEAKED), verdicts)
    assert [dialogue.meta["plan"] for dialogue in result.kept] == [0]
    assert [(reject.dialogue.meta["plan"], reject.stage, reject.reason.name) for reject in result.rejects] == [
        (1, "compare", "near_duplicate"),
        (2, "judge", "not_genuine"),
        (3, "read", "role_confusion"),
        (4, "read", "leak"),
        (5, "read", "special_token"),
        (6, "read", "length"),
        (7, "generate", "timeout"),
    ]
    assert result.rejects[-1].reason.detail == "after 60 s"


def test_the_text_of_a_leak_is_withheld(make_conversation: Make, make_context: Make) -> None:
    made = [make_conversation(TURNS[7], "So.", number=0), make_conversation(TURNS[3], "So.", number=1)]
    leaked, other = (reject.to_json() for reject in read(made, make_context(LEAKED)).rejects)
    assert "harbour" not in str(leaked) and leaked["messages"][2]["text"] is None
    assert (leaked["reason"], leaked["stage"], leaked["id"]) == ("leak", "read", made[0].id)
    assert other["messages"][2]["text"] == TURNS[3]


def test_verdicts_reject_nothing_if_genuine_is_off(
    make_conversation: Make, give_verdicts: Make, make_context: Make
) -> None:
    one = give_verdicts(make_conversation(), "new_task_prompt", genuine=False)
    assert decide([one], make_context(genuine=False)).kept == [one]
    assert decide([one], make_context()).kept == []


def test_the_most_generic_go_first_and_the_latest_among_equals(
    make_conversation: Make, give_verdicts: Make, make_context: Make
) -> None:
    mixed = [
        ["genuine_followup", "genuine_followup"],
        ["generic_followup", "genuine_followup"],
        ["generic_followup", "generic_followup"],
        ["generic_followup", "genuine_followup"],
    ]
    made = [
        give_verdicts(make_conversation(*"abcd", number=n, styles=("extend", "extend")), *labels)
        for n, labels in enumerate(mixed)
    ]
    context = make_context()
    assert too_generic(made, 0.5, context) == set()
    assert too_generic(made, 0.6, context) == {2}
    assert too_generic(made, 0.7, context) == {2, 3}
    assert too_generic(made, 1.0, context) == {1, 2, 3}
    assert too_generic([], 1.0, context) == set()
