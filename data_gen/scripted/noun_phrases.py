"""Noun phrases of an English text, found heuristically from function words, without a tagger; a few are wrong."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import yaml

_WORDS = yaml.safe_load(Path(__file__).with_name("function_words.yaml").read_text(encoding="utf-8"))
DETERMINERS = frozenset(_WORDS["determiners"].split())
OPENERS = DETERMINERS | frozenset(_WORDS["openers"].split())
SUBJECTS = frozenset(_WORDS["subjects"].split())
VERBS = frozenset(_WORDS["verbs"].split())
CLOSED = OPENERS | frozenset(_WORDS["closed"].split())
ADJECTIVES = frozenset(_WORDS["adjectives"].split())
VAGUE = frozenset(_WORDS["vague"].split())
AFTER_VERBS = DETERMINERS | frozenset(_WORDS["particles"].split())
WORD = re.compile(r"[A-Za-z][A-Za-z'\u2019-]*[A-Za-z]|[A-Za-z]")
TOKEN = re.compile(rf"{WORD.pattern}|\d+")
LONGEST = 3
"""Maximum words of a phrase."""


def noun_phrases(sentence: str, known: frozenset[str]) -> list[str]:
    """Distinct phrases such as "lemon juice" with a word not in `known` (lower-cased words), in order.

    A phrase with a determiner in the sentence gets "the": "a dark coop" becomes "the dark coop".
    """
    found: dict[str, None] = {}
    for stretch in re.split(r"[^\w\s'\u2019-]", sentence):
        tokens = TOKEN.findall(stretch)
        for place, token in enumerate(tokens):
            if token.lower() in OPENERS:
                has_determiner = token.lower() in DETERMINERS
                phrase = _phrase_at_start(tokens[place + 1 :], has_determiner)
                if phrase and any(part.lower() not in known for part in phrase):
                    found[" ".join(["the"] * has_determiner + phrase)] = None
    return list(found)


def _phrase_at_start(tokens: list[str], has_determiner: bool) -> list[str]:
    """The open-class words that `tokens` begins with, if they look like a specific noun phrase; else empty.

    A word before a determiner, a pronoun or a particle is taken to be a verb: "the moon | steals the show".
    """
    phrase = list(itertools.takewhile(lambda token: token.lower() not in CLOSED, tokens[: LONGEST + 1]))
    if phrase and "".join(tokens[len(phrase) : len(phrase) + 1]).lower() in AFTER_VERBS:
        phrase.pop()
    last = phrase[-1].lower() if phrase else ""
    noun = last not in ADJECTIVES and not last.endswith(("ly", "ed", "ing", "ous", "'s", "\u2019s"))
    long_enough = all(len(word) > 2 for word in phrase) and len(last) > (2 if phrase[1:] else 5)
    specific = any(word.lower() not in VAGUE | ADJECTIVES for word in phrase)
    complete = all(word[0].isalpha() for word in phrase) and (has_determiner or len(phrase) > 1 or last.endswith("s"))
    return phrase if len(phrase) <= LONGEST and noun and long_enough and specific and complete else []
