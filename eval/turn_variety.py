"""Normalizes user turns to compare them: a model that always uses one template may still have a high rate.

Words are compared without numbers and names, so that two fillings of one template count as one. Knows no judge.
"""

from __future__ import annotations

import re
import unicodedata

UNSPACED = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
"""Letters and digits; of a script without word spaces, each character."""
IN_NUMBER = re.compile(r"(?<=\d),(?=\d)")
SENTENCE_START = re.compile(r"(?:\A|[.!?:]\s+|\n\s*)[\"'\u201c(*-]*\Z")
NAME = re.compile(r"\b[A-Z][\w'\u2019-]*")
I_FORMS = re.compile(r"I(?:['\u2019]\w+)?\Z")
NUMBER = re.compile(r"[$\u20ac\u00a3]?\d[\d.,:/]*%?")
NUMBER_WORD = re.compile(
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundred|thousand|million)\Z"
)
OPENING = 3
"""Number of words in the opening of a turn."""


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared: lower case, without punctuation and without commas in numbers."""
    return WORD.findall(IN_NUMBER.sub("", unicodedata.normalize("NFKC", text).lower()))


def skeleton(turn: str) -> str:
    """A turn in lower case without numbers, names and punctuation: what is left of two fillings of one template.

    A name is a word with a capital letter that begins no sentence, or the same word where it does.
    """
    names = {word for word in NAME.findall(turn) if not I_FORMS.match(word)}
    inside = {
        found[0]
        for found in NAME.finditer(turn)
        if found[0] in names and not SENTENCE_START.search(turn[: found.start()])
    }
    kept = NAME.sub(lambda found: " " if found[0] in inside else found[0], turn)
    return " ".join(word for word in words_of(NUMBER.sub(" ", kept)) if not NUMBER_WORD.match(word))


def opening(skeleton: str) -> str:
    """The first words of a turn's skeleton: the template behind turns that only quote different things."""
    return " ".join(skeleton.split()[:OPENING])
