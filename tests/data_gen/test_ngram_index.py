"""Runs of eight words are found anywhere in a text, and nothing else is."""

from __future__ import annotations

import random

import pytest

from data_gen.ngram_index import COMMON, SIZE, NgramIndex
from eval.turn_variety import words_of

TEXT = "The tide tables of the harbour hang beside the door of the old customs house."


@pytest.mark.parametrize(
    "text",
    [
        "As I said: the tide tables of the harbour hang beside the wall.",
        "HARBOUR hang, beside - the \u201cdoor\u201d of the OLD",
        "tide\ntables   of the harbour\thang beside the",
    ],
)
def test_eight_words_are_found_whatever_their_case_and_punctuation(text: str) -> None:
    found = NgramIndex([("a row", TEXT)]).find(text)
    assert found is not None and found.row == "a row"


@pytest.mark.parametrize(
    "text", ["tide tables of the harbour hang beside", "the tide tables of the harbour hang near the door", "", "tide"]
)
def test_seven_words_are_not_an_overlap(text: str) -> None:
    assert NgramIndex([("a row", TEXT)]).find(text) is None


def test_overlaps_do_not_cross_the_end_of_a_text() -> None:
    index = NgramIndex([("a", "one two three four"), ("a", "five six seven eight"), ("b", "nine ten eleven twelve")])
    assert len(index) == 0
    assert index.find("one two three four five six seven eight nine ten eleven twelve") is None


def test_commas_in_numbers_are_ignored() -> None:
    index = NgramIndex([("a", "the town paid 1,250,000 for a bridge of 3 arches")])
    assert index.find("The town paid 1250000 for a bridge of 3,") is not None


def test_a_script_without_spaces_is_split_into_characters() -> None:
    assert NgramIndex([("a", "\u6c34\u3092\u6bce\u65e5\u4e8c\u56de\u3084\u308b\u3068\u3088\u3044")]).find(
        "\u6bce\u65e5\u4e8c\u56de\u3084\u308b\u3068\u3088\u3044\u3067\u3059"
    )


def test_an_ngram_shared_by_too_many_rows_is_not_an_overlap() -> None:
    phrase = "please answer in one sentence of at most ten"
    few = [(f"row {n}", f"{phrase} words {n}") for n in range(COMMON)]
    assert NgramIndex(few).find(phrase) is not None
    assert NgramIndex([*few, ("one more", f"{phrase} or so")]).find(phrase) is None
    assert NgramIndex([(name, text) for name, text in few for _ in range(3)]).find(phrase) is not None


def test_a_text_repeated_by_many_rows_is_found() -> None:
    """Such as a question that many rows repeat: it has no 8-gram of its own, but it is text of a row."""
    rows = [(f"row {n}", text) for n in range(3 * COMMON) for text in (TEXT, f"Answer {n} of the harbour master.")]
    found = NgramIndex(rows).find(f"He said: {TEXT}")
    assert found is not None and (found.row, found.word) == ("row 0", 2)
    assert NgramIndex(rows).find("hang beside the door of the old customs") is not None


def test_it_agrees_with_a_plain_search() -> None:
    draw = random.Random(5)

    def text(length: int) -> str:
        return " ".join(draw.choice("ab") for _ in range(length))

    rows = [(f"row {n}", text(draw.randrange(30))) for n in range(8)]
    grams: dict[tuple[str, ...], list[str]] = {}
    for name, content in rows:
        words = words_of(content)
        for start in range(len(words) - SIZE + 1):
            grams.setdefault(tuple(words[start : start + SIZE]), []).append(name)
    index = NgramIndex(rows)
    assert len(index) == len(grams)
    for _ in range(200):
        words = words_of(query := text(14))
        hits = [n for n in range(len(words) - SIZE + 1) if tuple(words[n : n + SIZE]) in grams]
        found = index.find(query)
        assert (found.word if found else None) == (hits[0] if hits else None)
        assert found is None or found.row == grams[tuple(words[found.word : found.word + SIZE])][0]


def test_an_empty_index_finds_nothing() -> None:
    assert NgramIndex([]).find(TEXT) is None
