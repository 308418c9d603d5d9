"""English is distinguished from other languages, short sums count as English, and detection is reproducible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from data_gen.language import known_languages, language_of, other_language

Make = Callable[..., Any]
FRENCH = "Pourquoi dois-je arroser la plante deux fois par semaine seulement, et que se passe-t-il si je l'oublie ?"
ENGLISH = "Why do I have to water the plant only twice a week, and what happens when I forget about it?"


@pytest.mark.parametrize(("user", "assistant"), [(FRENCH, ENGLISH), (ENGLISH, FRENCH)])
def test_another_language_on_either_side_is_rejected(
    make_conversation: Make, make_context: Make, user: str, assistant: str
) -> None:
    reason = other_language(make_conversation(user, assistant), make_context())
    assert reason is not None and reason.name == "other_language" and reason.detail.endswith("turns are in fr")


def test_the_kept_language_is_configurable(make_conversation: Make, make_context: Make) -> None:
    assert other_language(make_conversation(ENGLISH, ENGLISH), make_context()) is None
    assert other_language(make_conversation(FRENCH, FRENCH), make_context(language="fr")) is None
    assert other_language(make_conversation(FRENCH, FRENCH), make_context(language=None)) is None


def test_short_texts_are_not_classified(make_conversation: Make, make_context: Make) -> None:
    assert other_language(make_conversation("Pourquoi ?", "Parce que."), make_context()) is None


def test_sums_are_detected_as_english_reproducibly(make_conversation: Make, make_context: Make) -> None:
    sums = "She has 8 * 6 = 48 lily petals. 5 * 3 = 15 tulip petals, so 48 + 15 = 63 petals lie on the table."
    reasons = [other_language(make_conversation(sums, sums), make_context()) for _ in range(3)]
    assert reasons == [None] * 3


def test_known_languages() -> None:
    assert {"en", "fr", "zh-cn"} <= set(known_languages())
    assert language_of("12 + 30 = 42", expected="en") == "unknown"
