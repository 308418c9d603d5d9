"""Noun phrases of an English text, found by the words before and between them; no tagger, so a few are none."""

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
BEHIND_VERBS = DETERMINERS | frozenset(_WORDS["particles"].split())
WORD = re.compile(r"[A-Za-z][A-Za-z'\u2019-]*[A-Za-z]|[A-Za-z]")
TOKEN = re.compile(rf"{WORD.pattern}|\d+")
LONGEST = 3
"""Words of a phrase, at most."""


def noun_phrases(sentence: str, known: frozenset[str]) -> list[str]:
    """Phrases such as "lemon juice" with a word that is not among the `known` (lower-cased) ones, in order, once each.

    One that has a determiner in the sentence has "the" here: what was "a dark coop" is now "the dark coop".
    """
    found: dict[str, None] = {}
    for stretch in re.split(r"[^\w\s'\u2019-]", sentence):
        tokens = TOKEN.findall(stretch)
        for place, token in enumerate(tokens):
            if token.lower() in OPENERS:
                particular = token.lower() in DETERMINERS
                phrase = _behind(tokens[place + 1 :], particular)
                if phrase and any(part.lower() not in known for part in phrase):
                    found[" ".join(["the"] * particular + phrase)] = None
    return list(found)


def _behind(tokens: list[str], particular: bool) -> list[str]:
    """The open-class words that `tokens` begins with, if they look like a noun phrase that is about something.

    What stands before a determiner, a pronoun or a particle is taken for a verb: "the moon | steals the show".
    """
    phrase = list(itertools.takewhile(lambda token: token.lower() not in CLOSED, tokens[: LONGEST + 1]))
    if phrase and "".join(tokens[len(phrase) : len(phrase) + 1]).lower() in BEHIND_VERBS:
        phrase.pop()
    last = phrase[-1].lower() if phrase else ""
    noun = last not in ADJECTIVES and not last.endswith(("ly", "ed", "ing", "ous", "'s", "\u2019s"))
    long_enough = all(len(word) > 2 for word in phrase) and len(last) > (2 if phrase[1:] else 5)
    about = any(word.lower() not in VAGUE | ADJECTIVES for word in phrase)
    named = all(word[0].isalpha() for word in phrase) and (particular or len(phrase) > 1 or last.endswith("s"))
    return phrase if len(phrase) <= LONGEST and noun and long_enough and about and named else []
