"""What changes the effective text of a file, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.local_judge.effective_text import effective_text

CODE = '''"""What it is."""

LIMIT = 3  # rows
"""Rows at most."""


def first(text: str) -> str:
    """The first word.

    Of a text.
    """
    return text.split("#")[0] or """none"""
'''
SAID_OTHERWISE = '''# A licence.
"""What else it is,
told at length."""
LIMIT = 3
def first(text: str) -> str:
    # Words.
    return text.split("#")[0] or """none"""
'''


def effective(tmp_path: Path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return effective_text(path)


def test_comments_docstrings_and_blank_lines_have_no_effect(tmp_path: Path) -> None:
    assert effective(tmp_path, "a.py", CODE) == effective(tmp_path, "a.py", SAID_OTHERWISE)
    assert effective(tmp_path, "a.yaml", "# x\na: [é, b]  # y\n") == effective(tmp_path, "a.yaml", "a:\n- é\n- b\n")
    assert effective(tmp_path, "a.json", '{"a": 0.5}\n') == effective(tmp_path, "a.json", '{ "a":\n0.5}')


@pytest.mark.parametrize(("old", "new"), [("= 3", "= 4"), ('"#"', '"# "'), ("none", "no"), ("[0]", "[1]")])
def test_a_change_of_code_has(tmp_path: Path, old: str, new: str) -> None:
    assert effective(tmp_path, "a.py", CODE) != effective(tmp_path, "a.py", CODE.replace(old, new, 1))


def test_a_change_of_a_value_or_of_an_order_has(tmp_path: Path) -> None:
    texts = ["a: [x, y]", "a: [y, x]", "a: [x, z]", "b: [x, y]"]
    assert len({effective(tmp_path, "a.yaml", text) for text in texts}) == 4
