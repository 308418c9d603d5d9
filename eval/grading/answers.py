"""Numeric answers: the instruction in the prompt, extraction from free text, and grading.

The reader (version 1) takes the last explicitly marked number, else the last number of the text. It is specific to this
project, so its rates are not comparable with those of other harnesses (EleutherAI/lm-evaluation-harness#1159).
"""

from __future__ import annotations

import re
from fractions import Fraction

from eval.dialogue import Dialogue

INSTRUCTION = "Show your reasoning, then give the answer on a last line of the form: #### <number>"
"""Version 1 of the zero-shot prompt; changing it changes every row's id. Of 20 greedy answers within 256 tokens,
SmolLM2-135M finishes 15 with it, and 10 when instructed to reason step by step."""

LONGEST_ANSWER = 20_000
"""Characters read, from the end, so that a looping answer takes bounded time (verl-project/verl#6673)."""
REACH = 300
"""Maximum characters between a marker and the end of its number."""

NUMBER = re.compile(
    r"(?P<sign>(?<![\w)\]])-)?(?:[$€£₹¥]\s?(?P<inner>-)?)?(?<![\d^])(?<!\^\{)"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\w.])\.\d+)(?:/(?P<below>\d+))?"
)
"""Starts and ends with a digit (a lone comma is not a number, stanford-crfm/helm#4337); a sign after a word is a
hyphen, and an exponent ("cm^2") is not a number of its own."""
MARKER = re.compile(
    r"(?P<hashes>####)|(?P<boxed>\\f?boxed\s{0,3}\{)"
    r"|\banswer[*_\s]{0,6}(?::|=|is\b|(?:would|should|will)\sbe\b)",
    re.IGNORECASE,
)
LEAD = r"(?:\\[a-zA-Z]+|[\W_])*?"
"""Markup between a marker and its number: emphasis, brackets, currency, LaTeX commands."""
DIRECT = re.compile(LEAD + NUMBER.pattern)
OPERATION = re.compile(r"[\s_]{0,3}(?:=|(?:[-+*/×÷^]|\\(?:times|cdot|div))(?=\s?[\d($]))")  # noqa: RUF001
"""What follows a number that is the start of a calculation."""
NUMBERED_HEADING = re.compile(r"[ \t*]*\d+[.)][ \t]+\S")
SENTENCE_END = re.compile(r"[.!?](?:\s|$)")
LATEX = ((r"\$", "$"), (r"\%", "%"), ("{,}", ","), (r",\!", ","), (r"\!", ""), (r"\,", ""), ("−", "-"), ("–", "-"))  # noqa: RUF001
BOLD = re.compile(r"(?<!\d)\*\*|\*\*(?!\d)")
FRACTION = re.compile(r"\\[dt]?frac\s?\{(\d{1,15})\}\s?\{(\d{1,15})\}")


def ask(question: str) -> str:
    """The question followed by the instruction on how to end the answer."""
    return f"{question.strip()}\n\n{INSTRUCTION}"


def read_number(text: str) -> Fraction | None:
    """The exact number that the text gives as its answer; None if it gives none.

    The last marker with a number wins: `####`, `Answer:`, "the answer is", or a box, whose braces are matched. Commas,
    currency, percent signs and a final period are not part of the number; its sign is.
    """
    text = text[-LONGEST_ANSWER:]
    for old, new in LATEX:
        text = text.replace(old, new)
    text = FRACTION.sub(r"\1/\2", BOLD.sub("", text))
    for marker in reversed(list(MARKER.finditer(text))):
        number = _read_marked(marker, text[marker.end() : marker.end() + REACH])
        if number is not None:
            return number
    return _last_number(text)


def grade_number(dialogue: Dialogue) -> bool | None:
    """Whether the last assistant turn gives the reference number.

    False for a turn without a readable number and for a truncated one. None if there is no assistant turn or no
    readable reference.
    """
    answer = dialogue.last("assistant")
    right = read_number(dialogue.reference or "")
    if answer is None or right is None:
        return None
    return answer.finish != "length" and read_number(answer.text) == right


def _read_marked(marker: re.Match[str], after: str) -> Fraction | None:
    if marker["boxed"]:
        return _read_expression(_inside_braces(after))
    direct = DIRECT.match(after)
    if marker["hashes"]:
        # "#### Step 3" and "#### 2. Add up" are headings, not answers
        if not direct or NUMBERED_HEADING.match(after):
            return None
        return _read_expression(after[: _line_end(after, direct.end())])
    found = direct or NUMBER.search(after)
    if not found:
        return None
    end = SENTENCE_END.search(after, found.end())
    return _read_expression(after[: min(end.start() if end else len(after), _line_end(after, found.end()))])


def _read_expression(region: str) -> Fraction | None:
    """The number that a region starts with; for a calculation its result; for a clause its last number."""
    direct = DIRECT.match(region)
    if direct and not OPERATION.match(region, direct.end()):
        return _value(direct)
    result = DIRECT.match(region.rpartition("=")[2]) if "=" in region else None
    return _value(result) if result else _last_number(region)


def _last_number(text: str) -> Fraction | None:
    found = list(NUMBER.finditer(text))
    return _value(found[-1]) if found else None


def _value(number: re.Match[str]) -> Fraction | None:
    negative = bool(number["sign"]) != bool(number["inner"])
    try:
        size = Fraction(number["digits"].replace(",", "")) / Fraction(number["below"] or 1)
    except (ValueError, ZeroDivisionError):  # thousands of digits, or a division by zero
        return None
    return -size if negative else size


def _inside_braces(after: str) -> str:
    """The text up to the brace that closes the one before `after`; all of it if there is none."""
    depth = 1
    for index, character in enumerate(after):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return after[:index]
    return after


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
