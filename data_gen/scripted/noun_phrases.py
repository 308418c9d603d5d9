"""Noun phrases of an English text, found by the words before and between them; no tagger, so a few are none."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

_WORDS = yaml.safe_load(Path(__file__).with_name("function_words.yaml").read_text(encoding="utf-8"))
DETERMINERS = frozenset(_WORDS["determiners"].split())
OPENERS = DETERMINERS | frozenset(_WORDS["openers"].split())
SUBJECTS = frozenset(_WORDS["subjects"].split())
VERBS = frozenset(_WORDS["verbs"].split())
CLOSED = OPENERS | frozenset(_WORDS["closed"].split())
WORD = re.compile(r"[A-Za-z][A-Za-z'\u2019-]*[A-Za-z]|[A-Za-z]")
LONGEST = 3
"""Words of a phrase, at most."""


def noun_phrases(sentence: str, known: frozenset[str]) -> list[str]:
    """Phrases such as "lemon juice" with a word that is not among the `known` (lower-cased) ones, in order, once each.

    One that has a determiner in the sentence has "the" here: what was "a dark coop" is now "the dark coop".
    """
    found: dict[str, None] = {}
    for stretch in re.split(r"[^\w\s'\u2019-]", sentence):
        words = WORD.findall(stretch)
        for place, word in enumerate(words):
            if word.lower() in OPENERS:
                phrase = _behind(words[place + 1 :])
                if phrase and any(part.lower() not in known for part in phrase):
                    found[" ".join(["the"] * (word.lower() in DETERMINERS) + phrase)] = None
    return list(found)


def _behind(words: list[str]) -> list[str]:
    """The open-class words that `words` begins with, if they look like a noun phrase."""
    phrase: list[str] = []
    for word in words[: LONGEST + 1]:
        if word.lower() in CLOSED:
            break
        phrase.append(word)
    whole = 0 < len(phrase) <= LONGEST and all(len(word) > 2 for word in phrase)
    last = phrase[-1].lower() if phrase else ""
    noun = not last.endswith(("ly", "ed", "ing")) and len(last) > (2 if phrase[1:] else 5)
    return phrase if whole and noun else []
