"""Splits a response into plain sentences: Markdown and LaTeX markup, code, tables and headings are removed."""

from __future__ import annotations

import re

LIST_ITEM = re.compile(r"^[ \t]*(?:\d+[.)]|[-*\u2022])[ \t]+(\S.*)$", re.MULTILINE)
ANSWER_LINE = re.compile(
    r"^[^\w\n#]*(?:####|(?:so,? )?the (?:final )?answer is:?|(?:final )?answer:)[ *]*(-?\$?\d[\d,]*(?:\.\d+)?)[ .*]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that only gives the answer."""
NO_SENTENCES = re.compile(
    r"^[ \t]*```(?s:.*?)(?:^[ \t]*```[ \t]*$|\Z)"  # code
    r"|^[ \t]*\|.*$"  # a row of a table
    r"|^[ \t]*#{1,6}[ \t].*$"  # a heading
    r"|^[ \t]*(?:\*\*|__)[^*_\n]*[^*_\n.!?](?:\*\*|__):?[ \t]*$"  # a bold line that is not a sentence: also a heading
    r"|^[ \t]*[-*_=]{3,}[ \t]*$",  # a rule
    re.MULTILINE,
)
MARKS = re.compile(r"\*\*|__|`")
ITALIC = re.compile(r"(?<![\w*])\*([^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])")
LATEX = (
    (re.compile(r"\\[td]?frac\{([^{}]+)\}\{([^{}]+)\}"), r"\1 / \2"),
    (re.compile(r"\\(?:text|mathrm|mathbf|boxed)\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:times|cdot)\b"), "\u00d7"),
    (re.compile(r"\\div\b"), "\u00f7"),
    (re.compile(r"\\[\[\]()]"), ""),
    (re.compile(r"\\([$%])"), r"\1"),
    (re.compile(r"^.*\\[a-zA-Z]{2,}.*$", re.MULTILINE), ""),
)
"""Commands and their plain text; a line with any other command is removed."""
SENTENCE_END = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?][\"\u201d\u2019)]))(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bDr\.)\s+(?=[A-Z\"\u201c(0-9])"
)


def sentences_of(text: str) -> list[str]:
    """The sentences and list items of a text, in order; a bare answer line becomes "The answer is 42."."""
    lines = plain_text(text).splitlines()
    parts = (part.strip(" \t-*\u2022>") for line in lines for part in SENTENCE_END.split(line))
    return [part for part in parts if re.search(r"[^\W_]", part)]


def plain_text(text: str) -> str:
    """The text without markup and list markers, line by line."""
    return LIST_ITEM.sub(r"\1", without_markup(text))


def without_markup(text: str) -> str:
    """As `plain_text`, but list items keep their markers."""
    text = NO_SENTENCES.sub("", ANSWER_LINE.sub(r"The answer is \1.", text))
    for command, stands_for in LATEX:
        text = command.sub(stands_for, text)
    return ITALIC.sub(r"\1", MARKS.sub("", text))
