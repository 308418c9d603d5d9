from __future__ import annotations

from eval.dialogue import Message
from eval.local_judge.turn_text import CONTEXT_LIMIT, TURN_LIMIT, Exchange, Reading, ngrams, share, stem, words


def test_words_of_spaced_and_unspaced_scripts_stand_side_by_side():
    assert words("why 1,200 eggs?") == ["why", "1,200", "eggs"]
    assert words("足底筋膜") == ["足底", "底筋", "筋膜"]
    assert words("你说的compost是什么") == ["你说", "说的", "compost", "是什", "什么"]


def test_forms_of_a_word_and_of_a_number_meet():
    assert stem("eggs") == stem("egg")
    assert stem("rounding") == stem("rounded")
    assert stem("1,200") == stem("1200") == stem("1200.00")
    assert stem("glass") == "glass"


def test_content_leaves_out_function_words_and_numbers():
    assert Reading("Why do the 12 rolls stay behind?").content == {"roll", "stay", "behind"}
    assert Reading("Why do the 12 rolls stay behind?").numbers == {"12"}


def test_an_exchange_keeps_the_last_query_and_what_came_before_the_response():
    context = [
        Message("system", "be brief"),
        Message("user", "first question"),
        Message("assistant", "first answer"),
        Message("user", "Two things. Second question?"),
        Message("assistant", "second answer"),
    ]
    exchange = Exchange.of(context, "turn")
    assert exchange.query.raw == "Two things. Second question?"
    assert exchange.asking.raw == "Second question?"
    assert exchange.response.raw == "second answer"
    assert "first answer" in exchange.earlier.raw
    assert "brief" not in exchange.earlier.raw
    assert "second answer" not in exchange.earlier.raw


def test_only_so_much_is_read():
    exchange = Exchange.of([Message("user", "q" * 10**6), Message("assistant", "a" * 10**6)], "t" * 10**6)
    assert len(exchange.turn.raw) == TURN_LIMIT
    assert len(exchange.query.raw) == len(exchange.response.raw) == CONTEXT_LIMIT


def test_shares_of_runs():
    assert ngrams("abc", 2) == {"ab", "bc"}
    assert ngrams(["a", "b"], 3) == {("a", "b")}
    assert ngrams([], 3) == set()
    assert share({1, 2}, {2, 3}) == 0.5
    assert share(set(), {1}) == 0.0
