"""Evaluation text from any field is found in seeds and in the turns of either speaker, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from data_gen.evaluation_texts import read_evaluation_texts
from data_gen.filter_context import Context
from data_gen.generate_config import Filters
from data_gen.leaks import leak, leak_in
from data_gen.ngram_index import NgramIndex
from eval import plugin
from eval.dialogue import Dialogue, Message
from eval.grading.answers import ask

FIELDS = [
    *("gsm8k question", "gsm8k solution", "ifeval prompt", "ifbench prompt", "gpqa question", "gpqa right"),
    *("gpqa wrong", "healthbench prompt", "healthbench ideal", "healthbench other", "coval prompt", "coval response"),
    "pocket question",
]


@pytest.fixture(scope="module")
def everything(evaluation_dir: Path) -> Context:
    """All evaluations."""
    texts = read_evaluation_texts(plugin.names("eval.tasks"), evaluation_dir, "error").texts
    return Context(Filters(), frozenset(), NgramIndex(texts))


def planted(text: str) -> str:
    """Eight words, and marks among them, from the middle of `text`, in other case, inside another sentence."""
    words = text.replace("<<14*9=126>>", "").split()
    start = (len(words) - 12) // 2
    return f"By the way, {' '.join(words[start : start + 12]).upper()} is what I heard."


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("turn", [0, 1, 2, 3])
def test_eight_words_of_any_field_are_found_in_any_turn(
    field: str,
    turn: int,
    everything: Context,
    evaluation_texts: dict[str, str],
    make_conversation: Callable[..., Dialogue],
) -> None:
    texts = ["Why is that so?", "It holds water.", "And in winter?", "Less of it."]
    assert leak(make_conversation(*texts, styles=("extend", "extend")), everything) is None
    texts[turn] = planted(evaluation_texts[field])
    reason = leak(make_conversation(*texts, styles=("extend", "extend")), everything)
    assert reason is not None and reason.name == "leak"
    assert reason.detail.startswith(f"message {turn + 2}, ") and field.split()[0] in reason.detail
    assert "heard" not in reason.detail and texts[turn][12:30].lower() not in reason.detail.lower()


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("turn", [0, 1])
def test_seeds_are_checked_too(field: str, turn: int, everything: Context, evaluation_texts: dict[str, str]) -> None:
    texts = ["How do I fold a map?", "Along the old creases."]
    texts[turn] = planted(evaluation_texts[field])
    seed = Dialogue("written", (Message("user", texts[0]), Message("assistant", texts[1])))
    assert leak_in(seed, 0, everything.evaluation) is not None


def test_the_instruction_of_our_own_prompts_is_not_a_leak(everything: Context) -> None:
    question = "How many boats does the harbour hold at most?"
    seed = Dialogue("gsm8k", (Message("user", ask(question)), Message("assistant", "#### 12")))
    assert leak_in(seed, 0, everything.evaluation) is None
    own = NgramIndex([("row", "boats does the harbour hold at most? Show your reasoning, then give the answer")])
    assert leak_in(seed, 0, own) is None, "what runs from the question into the instruction is no text of a row"
    assert leak_in(seed, 0, NgramIndex([("row", question)])) is not None
