"""Named numeric features of an exchange: overlap with query and response, shape, artifacts, cues.

The local judge weighs `features`, and `eval.fit_judge` fits on them; a change here needs a new fit.
"""

# ruff: noqa: RUF001 (text of several scripts is what this file is about)
from __future__ import annotations

import math
import re
from functools import lru_cache

from eval.local_judge.turn_artifacts import (
    THINK_TAG,
    debris_share,
    loop_share,
    repeated_characters,
    repeated_clauses,
    role_headers,
)
from eval.local_judge.turn_cues import CUES, PROMPTED_REPLY
from eval.local_judge.turn_text import COMMON_WORDS, PLAIN_WORDS, Exchange, Reading, ngrams, share, stem

QUESTION = re.compile(r"[?？؟]")
LIST_ITEM = re.compile(r"(?m)^\s*(?:[-*•]|\d+[.)])\s")
EQUATION = re.compile(r"\d\s*[-+*/×÷=]\s*\$?\d")
REACTING = ("you_said", "objection", "place", "edit_request", "that_start", "what_if")
"""Cues that add up: a turn with several of them reacts to something."""
SENTENCE = re.compile(r"[^.!?。！？؟\n]*[^.!?。！？؟\s][^.!?。！？؟\n]*")
PLAIN_STEMS = frozenset(stem(word) for word in PLAIN_WORDS)
COMMON_TRIPLES = Reading(" ".join(COMMON_WORDS)).triples
"""The letter trigrams of their stems."""


def features(exchange: Exchange) -> dict[str, float]:
    """All features by name, most between 0 and 1."""
    return {
        **_overlap(exchange),
        **_copies(exchange),
        **_shape(exchange),
        **_artifacts(exchange.turn, exchange.response),
        **_cues(exchange),
    }


def _overlap(exchange: Exchange) -> dict[str, float]:
    """Where the content words and the numbers of the turn come from."""
    turn, response = exchange.turn, exchange.response
    asked = exchange.query.content | exchange.earlier.content
    asked_numbers = exchange.query.numbers | exchange.earlier.numbers
    words, telling = turn.content, turn.content - PLAIN_STEMS
    taken = (telling & response.content) - asked
    numbers_taken = (turn.numbers & response.numbers) - asked_numbers
    numbers_new = turn.numbers - response.numbers - asked_numbers
    shared = telling & response.content & asked
    new = telling - response.content - asked
    size = max(1, len(telling))
    return {
        "taken_share": len(taken) / size,
        "taken_count": math.log1p(len(taken)),
        "taken_any": float(bool(taken)),
        "query_only_share": len((telling & asked) - response.content) / size,
        "shared_share": len(shared) / size,
        "shared_count": math.log1p(len(shared)),
        "last_query_share": share(telling, exchange.query.content),
        "response_share": share(telling, response.content),
        "new_share": len(new) / size,
        "new_count": math.log1p(len(new)),
        "telling_count": math.log1p(len(telling)),
        "no_telling_words": float(not telling),
        "term_share": len(words & PLAIN_STEMS) / max(1, len(words)),
        "numbers_taken": math.log1p(len(numbers_taken)),
        "numbers_new": math.log1p(len(numbers_new)),
        "numbers_known": math.log1p(len(turn.numbers & asked_numbers)),
        "query_numbers_share": share(exchange.query.numbers, turn.numbers),
        "query_content_covered": share(exchange.query.content, words),
        "question_share": share(telling, exchange.asking.content),
        "question_covered": share(exchange.asking.content, words),
        "longest_taken": max(map(len, taken), default=0) / 10,
        "most_said_taken": math.log1p(max((response.counts[word] for word in taken), default=0)),
        "short_taken": float(len(turn.words) <= 4 and bool(taken or numbers_taken)),
        "odd_spelling": _odd_spelling(exchange),
    }


def _odd_spelling(exchange: Exchange) -> float:
    """The mean share of letter trigrams in new long words that occur in no word of the exchange and no common word."""
    known = exchange.query.vocabulary | exchange.earlier.vocabulary | exchange.response.vocabulary
    triples = COMMON_TRIPLES | exchange.query.triples | exchange.earlier.triples | exchange.response.triples
    unseen = [word for word in exchange.turn.vocabulary - known if len(word) > 3 and word.isalpha()]
    return sum(1 - share(ngrams(word, 3), triples) for word in unseen) / len(unseen) if unseen else 0.0


def _copies(exchange: Exchange) -> dict[str, float]:
    """How much of the turn is copied from query and response, and how much of these it covers."""
    turn = exchange.turn
    found: dict[str, float] = {}
    for name, other in (("query", exchange.query), ("response", exchange.response)):
        found[f"{name}_runs"] = share(turn.runs, other.runs)
        found[f"{name}_characters"] = share(turn.characters, other.characters)
        found[f"{name}_covered"] = share(other.characters, turn.characters)
        found[f"{name}_words"] = share(turn.vocabulary, other.vocabulary)
    pairs = ngrams(turn.stems, 2) - ngrams(exchange.query.stems, 2)
    found["response_pairs"] = share(pairs, ngrams(exchange.response.stems, 2))
    found["closer_to_response"] = found["response_characters"] - found["query_characters"]
    found["copy"] = max(found["response_characters"], found["query_characters"])
    return found


def _shape(exchange: Exchange) -> dict[str, float]:
    """Length, questions and layout."""
    turn, raw = exchange.turn, exchange.turn.raw.strip()
    sentences = SENTENCE.findall(raw)
    questions = len(QUESTION.findall(raw))
    asks = questions > 0 or bool(CUES["question_start"].search(turn.folded.strip()))
    count = len(turn.words)
    reply_asks = exchange.response.raw.rstrip()[-200:]
    return {
        "words": math.log1p(count),
        "words_squared": math.log1p(count) ** 2 / 5,
        "one_or_two_words": float(count <= 2),
        "relative_length": math.log((count + 1) / (len(exchange.response.words) + 1)),
        "sentences": math.log1p(len(sentences)),
        "asks": float(asks),
        "ends_asking": float(raw[-1:] in "?？؟" and bool(raw)),
        "one_question": float(len(sentences) == 1 and questions == 1),
        "states": float(not asks),
        "several_questions": float(questions > 1),
        "small_start": float(raw[:1].islower()),
        "no_final_mark": float(raw[-1:].isalnum()),
        "lines": math.log1p(raw.count("\n")),
        "list_items": math.log1p(len(LIST_ITEM.findall(raw))),
        "equations": math.log1p(len(EQUATION.findall(raw))),
        "response_asks": float(bool(QUESTION.search(reply_asks[-80:]))),
        "replies": float(bool(QUESTION.search(reply_asks)) and bool(PROMPTED_REPLY.match(turn.folded.strip()))),
        "not_ascii": sum(ord(c) > 0x24F for c in raw) / max(1, len(raw)),
        "word_length": sum(map(len, turn.words)) / max(1, count) / 5,
    }


def _artifacts(turn: Reading, response: Reading) -> dict[str, float]:
    looping, _ = loop_share(turn.words)
    return {
        "loop": looping,
        "repeated_clauses": math.log(max(1, repeated_clauses(turn.folded))),
        "repeated_characters": repeated_characters(turn.raw),
        "repeated_words": 1 - len(set(turn.words)) / max(1, len(turn.words)),
        "response_loop": _loop(response),
        "debris": debris_share(turn.raw),
        "replacement_characters": min(1.0, turn.raw.count("\ufffd") / 3),
        "role_headers": math.log1p(role_headers(turn.raw)),
        "think_tags": float(bool(THINK_TAG.search(turn.raw))),
    }


@lru_cache(maxsize=64)
def _loop(response: Reading) -> float:
    return loop_share(response.words[:400])[0]


def _cues(exchange: Exchange) -> dict[str, float]:
    turn = exchange.turn.folded.strip()
    found = {f"cue_{name}": float(bool(cue.search(turn))) for name, cue in CUES.items()}
    taken = exchange.turn.content & exchange.response.content - exchange.query.content - exchange.earlier.content
    asks_what_is = found["cue_what_is_start"]
    impersonal = not (found["cue_you"] or found["cue_first_person"] or QUESTION.search(turn))
    return {
        **found,
        "impersonal_statement": float(impersonal and len(exchange.turn.words) > 5),
        "what_is_taken": asks_what_is * bool(taken),
        "what_is_untaken": asks_what_is * (not taken),
        "simplify_only": found["cue_simplify"] * (len(exchange.turn.content - PLAIN_STEMS) <= 1),
        "your_taken": found["cue_your"] * bool(taken),
        "pointing_short": found["cue_pointing"] * (len(exchange.turn.words) <= 12),
        "reacts": sum(found[f"cue_{name}"] for name in REACTING),
        "question_mark_untaken": float(bool(QUESTION.search(turn)) and not taken),
    }
