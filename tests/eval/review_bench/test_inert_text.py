"""Text in pieces: nothing is lost, and what is not seen is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.review_bench.inert_text import Piece, pieces

ANY = st.text(st.one_of(st.characters(), st.characters(categories=["Cs", "Cf", "Cc", "Mn"])))

INVISIBLE = (
    "\x00\x07\x1b\x7f\x85\x9b\r\u00ad\u034f\u061c\u115f\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2066\u2067\u2068\u2069\u2800\u3164\ue000\ufe0f\ufeff\uffa0\ufffe\U000e0041\ud800"
)


def rebuilt(text: str) -> str:
    return "".join(p.text if p.unseen is None else chr(int(p.unseen[2:], 16)) * p.times for p in pieces(text))


@given(ANY)
def test_the_pieces_are_the_text(text: str) -> None:
    assert rebuilt(text) == text.replace("\r\n", "\n")
    assert all(piece.text for piece in pieces(text))


@pytest.mark.parametrize("character", INVISIBLE)
def test_what_is_not_seen_is_shown_by_its_code_point(character: str) -> None:
    before, box, after = pieces(f"a{character * 3}b")
    assert (before, after) == (Piece("a"), Piece("b"))
    assert box.unseen == f"U+{ord(character):04X}" and box.times == 3 and box.text


def test_what_is_seen_stays() -> None:
    for text in ("é e\u0301 你好 שלום 🚀\n\tx", "👨\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3", "👩🏽\u200d💻"):
        assert list(pieces(text)) == [Piece(text)]
    assert list(pieces("a\r\nb")) == [Piece("a\nb")] and list(pieces("")) == []


def test_a_character_says_what_it_is() -> None:
    assert [piece.text for piece in pieces("\u202e\x00\ud800\ue000")] == [
        *("right-to-left override", "control character", "surrogate", "private use")
    ]


def test_a_long_text_is_quick_in_pieces() -> None:
    assert len(list(pieces("a\u200b" * 50_000))) == 100_000
    assert list(pieces("\u200b" * 50_000)) == [Piece("zero width space", "U+200B", 50_000)]
