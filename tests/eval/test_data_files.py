"""Reading the rows of a file: values stay as written, every fault names its place, and what was read is known."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from eval.data_files import files_read, read_file, read_jsonl


def _write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_file_that_was_read_is_known_with_its_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = _write(tmp_path, "a.jsonl", '{"text": "a"}\n')
    assert str(path) not in files_read()
    for content in ('{"text": "a"}\n', '{"text": "b"}\n'):
        _write(tmp_path, "a.jsonl", content)
        assert len(list(read_file(Path("a.jsonl"), {"text": str}))) == 1
        assert files_read()[str(path)] == hashlib.sha256(content.encode()).hexdigest()


def test_strings_that_look_like_numbers_stay_strings(tmp_path: Path) -> None:
    values = ["007", "13", "true", "null", "1e3", "2024-01-02", " x\\n", "1.0"]
    path = _write(tmp_path, "a.jsonl", "".join(f'{{"text": "{value}"}}\n' for value in values))
    assert [row["text"] for _, row in read_jsonl(path, {"text": str})] == [v.replace("\\n", "\n") for v in values]


def test_a_whole_number_in_a_string_column_becomes_its_digits(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.jsonl", '{"answer":"007"}\n{"answer":13}\n{"answer":9223372036854775808}\n')
    assert [row["answer"] for _, row in read_jsonl(path, {"answer": str})] == ["007", "13", "9223372036854775808"]


def test_odd_unicode_special_tokens_and_line_separators_stay_verbatim(tmp_path: Path) -> None:
    text = "\u2028a\u0085b <|im_end|> <think> \U0001f9d1\u200d\U0001f33e \u202e \x00 e\u0301"
    path = _write(
        tmp_path, "a.jsonl", b'\xef\xbb\xbf{"text": "' + text.replace("\x00", "\\u0000").encode() + b'"}\r\n\n'
    )
    assert list(read_jsonl(path, {"text": str})) == [(f"{path} line 1", {"text": text})]


def test_only_named_columns_are_given_and_places_count_physical_lines(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.jsonl", '{"text": "a", "other": [1]}\n\n{"other": 2, "text": "b"}')
    assert list(read_jsonl(path, {"text": str})) == [
        (f"{path} line 1", {"text": "a"}),
        (f"{path} line 3", {"text": "b"}),
    ]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"text": "a"', "not JSON"),
        (b'{"text": NaN}', "NaN is not JSON"),
        (b'{"text": "\xff"}', "utf-8"),
        (b'{"text": "\\ud800"}', "surrogates not allowed"),
        (b"[" * 100_000, "not JSON"),
        (b'["text"]', "not a JSON object but ['text']"),
        (b'{"txet": "a"}', "no column 'text', found ['txet']"),
        (b'{"text": null}', "column 'text': None is not of type str"),
        (b'{"text": ["a"]}', "column 'text': ['a'] is not of type str"),
        (b'{"text": true}', "column 'text': True is not of type str"),
        (b'{"text": 1.5}', "column 'text': 1.5 is not of type str"),
    ],
)
def test_a_faulty_line_is_named(tmp_path: Path, line: bytes, complaint: str) -> None:
    path = _write(tmp_path, "a.jsonl", b'{"text": "fine"}\n' + line + b"\n")
    with pytest.raises(ValueError) as caught:
        list(read_jsonl(path, {"text": str}))
    assert str(caught.value).startswith(f"{path} line 2")
    assert complaint in str(caught.value)


def test_a_column_may_be_null_if_it_says_so(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.jsonl", '{"note": null}\n{"note": {"a": 1}}\n')
    assert [row["note"] for _, row in read_jsonl(path, {"note": dict | None})] == [None, {"a": 1}]
    path = _write(tmp_path, "b.jsonl", '{"note": 3}\n')
    with pytest.raises(ValueError, match=r"3 is not of type dict \| None"):
        list(read_jsonl(path, {"note": dict | None}))


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_a_file_without_rows_is_an_error(tmp_path: Path, content: str) -> None:
    path = _write(tmp_path, "a.jsonl", content)
    with pytest.raises(ValueError, match=r"a\.jsonl: no rows"):
        list(read_jsonl(path, {"text": str}))


def test_rows_are_read_one_at_a_time(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.jsonl", '{"text": "a"}\nbroken\n')
    rows = read_jsonl(path, {"text": str})
    assert next(rows)[1] == {"text": "a"}
    with pytest.raises(ValueError, match="line 2"):
        next(rows)
