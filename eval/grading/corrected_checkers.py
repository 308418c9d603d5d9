"""Corrected versions of IFEval and IFBench checkers whose published verdict is plainly wrong.

Only the published checkers give comparable scores, so they decide; these give an additional, corrected score. Faults:
a paragraph is indexed among blank ones too (scitix/sieval#104); a text without questions satisfies a ratio of sentence
types, as 0 = 2 * 0 (scitix/sieval#105); a "letter" such as # is replaced by a random letter
(google-research/google-research#3427).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def correct_faults(registry: Mapping[str, Any]) -> dict[str, Any]:
    """`registry` (instruction id to checker class) with the faulty checkers replaced."""
    corrections = {
        "length_constraints:nth_paragraph_first_word": _without_blank_paragraphs,
        "ratio:sentence_type": _with_a_question,
        "ratio:sentence_balance": _with_a_question,
        "keywords:letter_frequency": _counting_any_character,
    }
    return {name: corrections[name](checker) if name in corrections else checker for name, checker in registry.items()}


def _without_blank_paragraphs(checker: Any) -> Any:
    class Corrected(checker):  # type: ignore[misc]
        def check_following(self, value: str) -> bool:
            paragraphs = [part for part in value.split("\n\n") if part.strip()]
            return bool(super().check_following("\n\n".join(paragraphs)))

    return Corrected


def _with_a_question(checker: Any) -> Any:
    from if_verifiable.ifbench.instructions_util import split_into_sentences

    class Corrected(checker):  # type: ignore[misc]
        def check_following(self, value: str) -> bool:
            has_question = any(sentence.endswith("?") for sentence in split_into_sentences(value))
            return has_question and bool(super().check_following(value))

    return Corrected


def _counting_any_character(checker: Any) -> Any:
    class Corrected(checker):  # type: ignore[misc]
        def build_description(self, *, letter: str, **others: Any) -> str:
            description = super().build_description(letter=letter, **others)
            self._letter = letter.strip().lower()
            return str(description)

    return Corrected
