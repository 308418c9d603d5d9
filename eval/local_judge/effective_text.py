"""The text of a file without comments, docstrings and blank lines.

It is hashed to identify code independently of the wording of comments. It works on text, because the output of
`ast.dump` and `ast.unparse` depends on the version of Python.
"""

from __future__ import annotations

import ast
import io
import json
import tokenize
from pathlib import Path

import yaml


def effective_text(path: Path) -> str:
    """The code of a Python file, the values of a YAML or JSON file."""
    text = path.read_text(encoding="utf-8")
    return _code(text) if path.suffix == ".py" else json.dumps(yaml.safe_load(text), ensure_ascii=False)


def _code(source: str) -> str:
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            assert node.end_lineno is not None
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())
