"""Multiple choice: a deterministic order of the options, a prompt with letters, and extraction of the chosen letter.

The prompt is that of openai/simple-evals (`common.py`), word for word; options keep their text. The reader (version 1)
is our own: theirs takes the letter after the first "Answer:", even if it starts a word, and misses a letter in bold.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

from eval.dialogue import Dialogue
from eval.grading.answers import LONGEST_ANSWER

LETTERS = "ABCD"
PROMPT = (
    "Answer the following multiple choice question. The last line of your response should be of the following format: "
    "'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by step before answering."
)
"""Source: https://github.com/openai/simple-evals/blob/main/common.py, MIT."""

ABOUT_ALL = re.compile(
    r"(?:all|none|any|both|neither|either|each|more than one)\b.{0,20}"
    r"\b(?:above|preceding|previous|foregoing|these|those|others?|options|answers|choices|statements)\b",
    re.I,
)
"""Matches the start of an option that refers to all others, and so must come after them."""
PLACE = r"(?:(?:option|answer|choice|statement)s?\s*)?(?:\([A-D]\)|[A-D]\b\)?)"
ABOUT_PLACES = re.compile(
    rf"(?:(?:both|either|neither)\s+)?{PLACE}(?:\s*(?:,\s*(?:and|or)\b|,|&|/|and\b|or\b|nor\b)\s*{PLACE})+"
    rf"(?:\s+(?:are|is)\s+(?:both\s+)?(?:correct|right|true))?\W*"
    rf"|only\s+{PLACE}\W*|{PLACE}\s+only\W*|(?:both\s+)?(?:of\s+)?the\s+(?:first|last)\s+(?:two|three)\b.*",
    re.I | re.S,
)
"""Matches a complete option that refers to others by their position."""

MARKER = re.compile(
    r"\\f?boxed\s{0,3}\{"
    r"|\b(?:answer|correct\s(?:option|choice))[*_\s]{0,6}(?::|\uff1a|=|is\b|(?:would|should|will|must)\sbe\b)",
    re.I,
)
CHOICE = re.compile(
    r"(?:[\s*_$(\[{\"'`:]|\\(?:f?boxed|text(?:bf|rm|tt)?|mathrm|mathbf|bf)\b|\b(?:the|option|choice|letter)\b)*"
    r"(?P<letter>[A-Za-z])(?!\w|['\u2019=+-]\w)(?P<after>.{0,40})",
    re.I,
)
"""What may come between a marker and its letter: markup, brackets, LaTeX, the word "option"; then a single letter."""
HEDGE = re.compile(r"[)\]*_$\s]*(?:,|/|&|or\b|and\b)\s*(?:option\s+)?[(\[*_$]*[A-D]\b(?!\s+[a-z])")
"""A second letter offered next to the first."""
PROSE = re.compile(r"[ \t]+(?!because\b|since\b|as\b|is\b)[a-z]")
"""What follows an article rather than an option letter, as in "a mixture"."""


class Choices(NamedTuple):
    """Options in display order."""

    options: tuple[str, ...]
    right: str
    """The letter of the correct option, and the letters of other options with the same text."""


def arrange(correct: str, incorrect: Sequence[str], key: str) -> Choices:
    """The options ordered by the hash of `key` and of the option's index in the data.

    An option that refers to all others ("none of the above") stays after them. If an option refers to others by
    position ("both A and B"), the others keep the order of the data, the only one in which it can be true.
    """
    options = (correct, *incorrect)
    refers = [_refers_to_others(option) for option in options]
    fixed = any(ABOUT_PLACES.fullmatch(option.strip()) for option in options)
    hashes = [hashlib.sha256(f"{key}\n{place}".encode()).digest() for place in range(len(options))]
    order = sorted(
        range(len(options)), key=lambda place: (refers[place], b"" if fixed or refers[place] else hashes[place], place)
    )
    shown = tuple(options[place] for place in order)
    same = [letter for letter, option in zip(LETTERS, shown, strict=True) if option.strip() == correct.strip()]
    return Choices(shown, "".join(same))


def ask(question: str, options: Sequence[str]) -> str:
    """The published prompt, the question and its lettered options."""
    listed = "\n".join(f"{letter}) {option}" for letter, option in zip(LETTERS, options, strict=True))
    return f"{PROMPT}\n\n{question}\n\n{listed}"


def read_letter(text: str) -> str | None:
    """The letter, A to D, that the text gives as its answer; None if it gives none.

    The last marker followed by a letter decides: `Answer:`, "the answer is", "the correct option is", a box. A letter
    outside A to D, a letter next to a second one, and a letter without a marker do not count as an answer.
    """
    text = text[-LONGEST_ANSWER:]
    for marker in reversed(list(MARKER.finditer(text))):
        found = CHOICE.match(text, marker.end())
        if found is None or _is_prose(found):
            continue
        letter = found["letter"].upper()
        return letter if letter in LETTERS and not HEDGE.match(found["after"]) else None
    return None


def grade_letter(dialogue: Dialogue) -> bool | None:
    """Whether the last assistant turn chooses a correct letter of the reference.

    False for a turn without a readable letter and for a truncated one. None if there is no assistant turn or no
    reference.
    """
    answer = dialogue.last("assistant")
    if answer is None or not dialogue.reference:
        return None
    letter = read_letter(answer.text)
    return answer.finish != "length" and letter is not None and letter in dialogue.reference


def _refers_to_others(option: str) -> bool:
    """Whether an option refers to other options."""
    option = option.strip()
    return bool(ABOUT_ALL.match(option) or ABOUT_PLACES.fullmatch(option))


def _is_prose(found: re.Match[str]) -> bool:
    """Whether the letter is part of prose: "a mixture", or a lower-case letter followed by text."""
    follows = PROSE.match(found["after"])
    return bool(follows) and (found["letter"] in "AaIi" or found["letter"].islower())
