"""Perturbations change the answer's text and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from eval.dialogue import Dialogue, Message
from eval.perturb import PERTURBATIONS, QUESTIONS, append_question, truncate


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """One token a byte, so that a character can be cut in two."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({char: index for index, char in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


TOKENIZER = byte_tokenizer()


def dialogue(answer: str) -> Dialogue:
    question = Dialogue("toy", (Message("user", "why?"),), meta={"row": 1})
    return question.says(Message("assistant", answer, "m", "stop", 9))


@pytest.mark.parametrize(
    ("fraction", "kept"), [(0.5, "abcdef"), (0.25, "abcdefghi"), (0.75, "abc"), (0.99, "a"), (0.01, "abcdefghijk")]
)
def test_truncation_removes_that_share_of_the_tokens_from_the_end(fraction: float, kept: str) -> None:
    cut = truncate(TOKENIZER, fraction=fraction)(dialogue("abcdefghijkl"))
    assert cut.messages[-1].text == kept


def test_a_character_cut_in_two_leaves_no_trace() -> None:
    assert truncate(TOKENIZER, fraction=0.5)(dialogue("aé€")).messages[-1].text == "aé"
    assert truncate(TOKENIZER, fraction=0.4)(dialogue("aé€")).messages[-1].text == "aé"


@given(st.text(), st.sampled_from([0.1, 0.5, 0.9]))
def test_what_is_kept_is_how_the_answer_began(answer: str, fraction: float) -> None:
    before = dialogue(answer)
    after = truncate(TOKENIZER, fraction=fraction)(before)
    assert answer.startswith(after.messages[-1].text)
    if after.failure is None:
        assert 0 < len(after.messages[-1].text) < len(answer)
    else:
        assert after == replace(before, failure=after.failure)


@pytest.mark.parametrize("answer", ["", "a", "€"])
def test_an_answer_of_which_a_cut_leaves_nothing_is_a_counted_failure(answer: str) -> None:
    fraction = 0.9  # of the three bytes of the last one, one is kept, which is no character
    failed = truncate(TOKENIZER, fraction=fraction)(dialogue(answer))
    assert failed.failure is not None
    assert (failed.failure.stage, failed.failure.kind) == ("generate", "too_short_to_truncate")
    assert failed.failure.permanent
    assert (failed.state, failed.messages[-1].text) == ("gen_error", answer)


@pytest.mark.parametrize("wording", QUESTIONS)
def test_a_question_is_appended(wording: str) -> None:
    after = append_question(TOKENIZER, wording=wording)(dialogue("Because.\n"))  # type: ignore[arg-type]
    assert after.messages[-1].text == f"Because.\n\n{QUESTIONS[wording]}"


@pytest.mark.parametrize("make", PERTURBATIONS.values())
def test_all_else_stays(make: Callable) -> None:
    before = dialogue("It is the tide, mostly.")
    after = make(TOKENIZER)(before)
    assert after.id == before.id
    assert after.messages[:-1] == before.messages[:-1]
    assert (after.messages[-1].role, after.messages[-1].by, after.messages[-1].finish) == ("assistant", "m", "stop")
    assert make(TOKENIZER)(before) == after
