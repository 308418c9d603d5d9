"""The language filter: langdetect, seeded so that its result is reproducible."""

from __future__ import annotations

from functools import cache
from typing import Any

from data_gen.filter_context import Context, Reason, generated_by
from eval.dialogue import Dialogue

SHORTEST = 60
"""Minimum number of letters; the detector is unreliable on shorter text."""
READ = 400
"""Characters of each side given to the detector."""
TRIALS = 3
"""Random restarts. The library's default, 7, is slow and changes one result in a hundred."""
EXPECTED = 0.9
"""Prior probability of the wanted language; without it, short sums are detected as Dutch."""


def other_language(dialogue: Dialogue, context: Context) -> Reason | None:
    """The generated user turns, or the responses, are not in the configured language."""
    wanted = context.limits.language
    if wanted is None:
        return None
    for role in ("user", "assistant"):
        text = "\n".join(generated_by(dialogue, role))[:READ]
        if sum(map(str.isalpha, text)) >= SHORTEST and (found := language_of(text, expected=wanted)) != wanted:
            return Reason("other_language", f"the {role} turns are in {found}")
    return None


def language_of(text: str, *, expected: str) -> str:
    """Code of the most probable language, one of `known_languages`; "unknown" if none can be detected."""
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
    """The detectable language codes: ISO 639-1, except for "zh-cn" and "zh-tw"."""
    return sorted(_profiles().langlist)


@cache
def _profiles() -> Any:
    """A separate factory with the library's profiles: the seed of the library's own factory is global."""
    from langdetect import PROFILES_DIRECTORY
    from langdetect.detector_factory import DetectorFactory

    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    return factory
