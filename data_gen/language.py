"""In which language a conversation is, by langdetect, seeded so that it says the same twice."""

from __future__ import annotations

from functools import cache
from typing import Any

from data_gen.filter_context import Context, Reason, generated_by
from eval.dialogue import Dialogue

SHORTEST = 60
"""Letters below which a guess is worth nothing."""
READ = 400
"""Characters of each side that are read."""
TRIALS = 3
"""Random starts of the library, which has 7: one in a hundred guesses changes, and it is slow."""
EXPECTED = 0.9
"""Probability of the wanted language before anything is read: short sums are otherwise taken for Dutch."""


def other_language(dialogue: Dialogue, context: Context) -> Reason | None:
    """What the user says, or what the assistant says, is in another language than the one that is kept."""
    wanted = context.limits.language
    if wanted is None:
        return None
    for role in ("user", "assistant"):
        text = "\n".join(generated_by(dialogue, role))[:READ]
        if sum(map(str.isalpha, text)) >= SHORTEST and (found := language_of(text, expected=wanted)) != wanted:
            return Reason("other_language", f"the {role} speaks {found}")
    return None


def language_of(text: str, *, expected: str) -> str:
    """Code of the most probable language, one of `known_languages`; "unknown" where there is none."""
    from langdetect import LangDetectException

    factory = _profiles()
    known = factory.langlist
    detector = factory.create()
    detector.seed, detector.n_trial = 0, TRIALS
    detector.set_prior_map({code: EXPECTED if code == expected else (1 - EXPECTED) / len(known) for code in known})
    detector.append(text)
    try:
        return str(detector.detect())
    except LangDetectException:
        return "unknown"


def known_languages() -> list[str]:
    """The codes that can be told apart: ISO 639-1, except for "zh-cn" and "zh-tw"."""
    return sorted(_profiles().langlist)


@cache
def _profiles() -> Any:
    """A factory of our own with the library's profiles: the shared one has no seed."""
    from langdetect import PROFILES_DIRECTORY
    from langdetect.detector_factory import DetectorFactory

    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    return factory
