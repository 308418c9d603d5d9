"""Reading rows: values stay as written, and every fault names its place and the remedy."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import huggingface_hub
import pyarrow
import pyarrow.parquet
import pytest

from eval.dialogue import Message
from eval.sources import Source, choose, local_files, read_messages, read_prompt, read_source, read_unique

REVISION = "0123456789abcdef0123456789abcdef01234567"
LINES = Source(
    "https://example.org", "MIT", ("toy/{split}.jsonl", "toy/part_*.jsonl"), "me/toy", REVISION, "{split}.jsonl"
)
TABLE = Source("https://example.org", "MIT", ("toy/{split}.jsonl",), "me/toy", REVISION, "main/{split}.parquet")

CELLS = Source("https://example.org", "MIT", ("toy/{split}.csv",))


def _write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _rows(source: Source, folder: Path, split: str = "test") -> list[dict]:
    return [row for _, row in read_source(source, {"text": str}, split=split, data_dir=folder)]


def test_the_first_pattern_that_matches_is_read_with_all_its_files(tmp_path: Path) -> None:
    _write(tmp_path, "toy/part_2.jsonl", '{"text": "b"}')
    _write(tmp_path, "toy/part_1.jsonl", '{"text": "a"}')
    assert _rows(LINES, tmp_path) == [{"text": "a"}, {"text": "b"}]
    _write(tmp_path, "toy/test.jsonl", '{"text": "whole"}')
    assert _rows(LINES, tmp_path) == [{"text": "whole"}]


def test_the_environment_names_the_data_folder_and_the_argument_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = _write(tmp_path / "env", "toy/test.jsonl", "{}")
    there = _write(tmp_path / "argument", "toy/test.jsonl", "{}")
    monkeypatch.setenv("USERTURN_DATA", str(tmp_path / "env"))
    assert local_files(LINES, "test", None) == [here]
    assert local_files(LINES, "test", tmp_path / "argument") == [there]
    monkeypatch.delenv("USERTURN_DATA")
    assert local_files(LINES, "test", None) == []


def test_a_data_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere; give an existing one as --data-dir"):
        _rows(LINES, tmp_path / "nowhere")


def _serve(monkeypatch: pytest.MonkeyPatch, path: Path) -> list[tuple]:
    """Let the Hub client give `path`; the calls that it gets."""
    calls: list[tuple] = []

    def download(repository: str, name: str, *, repo_type: str, revision: str | None, local_files_only: bool) -> str:
        calls.append((repository, name, repo_type, revision))
        return str(path)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    return calls


def test_without_a_local_file_the_pinned_revision_of_the_hub_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("USERTURN_DATA", raising=False)
    calls = _serve(monkeypatch, _write(tmp_path, "hub.jsonl", '{"text": "007"}\n'))
    assert [row for _, row in read_source(LINES, {"text": str}, split="test")] == [{"text": "007"}]
    assert calls == [("me/toy", "test.jsonl", "dataset", REVISION)]


def test_a_parquet_file_of_the_hub_gives_the_same_rows_as_json_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hub.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"other": [1, 2], "text": ["007", "x\n"]}), path)
    calls = _serve(monkeypatch, path)
    rows = list(read_source(TABLE, {"text": str}, split="train", data_dir=tmp_path))
    assert rows == [(f"{path} row 1", {"text": "007"}), (f"{path} row 2", {"text": "x\n"})]
    assert calls == [("me/toy", "main/train.parquet", "dataset", REVISION)]


def test_a_parquet_file_with_a_null_or_without_rows_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "hub.parquet"
    _serve(monkeypatch, path)
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a", None]}), path)
    with pytest.raises(ValueError, match=r"hub.parquet row 2, column 'text': None is not of type str"):
        _rows(TABLE, tmp_path)
    pyarrow.parquet.write_table(pyarrow.table({"text": pyarrow.array([], pyarrow.string())}), path)
    with pytest.raises(ValueError, match=r"hub.parquet: no rows"):
        _rows(TABLE, tmp_path)


def test_a_hub_out_of_reach_names_file_hub_id_and_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(FileNotFoundError) as caught:
        _rows(LINES, tmp_path)
    message = str(caught.value)
    assert f"{tmp_path}/toy/test.jsonl or {tmp_path}/toy/part_*.jsonl" in message
    assert f"`hf download me/toy test.jsonl --repo-type dataset --revision {REVISION}`" in message
    assert "LocalEntryNotFoundError" in message and "hf auth login" not in message


def test_a_file_pinned_by_its_hash_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _write(tmp_path, "hub.jsonl", '{"text": "a"}\n')
    calls = _serve(monkeypatch, path)
    pinned = replace(LINES, revision=None, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    assert _rows(pinned, tmp_path) == [{"text": "a"}]
    assert calls == [("me/toy", "test.jsonl", "dataset", None)]
    _write(tmp_path, "hub.jsonl", '{"text": "b"}\n')
    with pytest.raises(ValueError, match=f"hub.jsonl: not the file with SHA-256 {pinned.sha256}"):
        _rows(pinned, tmp_path)


def test_csv_cells_may_hold_commas_quotes_and_newlines(tmp_path: Path) -> None:
    _write(tmp_path, "toy/test.csv", b'\xef\xbb\xbftext,other\r\n"a, ""b""\r\nc",1\r\n007,2\r\n')
    assert _rows(CELLS, tmp_path) == [{"text": 'a, "b"\r\nc'}, {"text": "007"}]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"text,other\nsecret,1\nsecret\n", "test.csv row 2: not 2 cells"),
        (b"text,other\nsecret,1,2\n", "test.csv row 1: not 2 cells"),
        (b"txet\nsecret\n", "test.csv: its first line names no column 'text'; use"),
        (b'text\n"secret\n', "not CSV in UTF-8 (unexpected end of data)"),
        (b"text\nsecret \xff\n", "not CSV in UTF-8"),
        (b"text\n" + b"secret" * 100_000, "field larger than field limit"),
        (b"", "test.csv: no rows"),
        (b"text\n", "test.csv: no rows"),
    ],
)
def test_a_faulty_csv_file_is_named_and_not_quoted(tmp_path: Path, content: bytes, complaint: str) -> None:
    _write(tmp_path, "toy/test.csv", content)
    with pytest.raises(ValueError) as caught:
        _rows(CELLS, tmp_path)
    assert complaint in str(caught.value) and "secret" not in str(caught.value)


def test_without_a_data_folder_the_error_says_how_to_give_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("USERTURN_DATA", raising=False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with pytest.raises(FileNotFoundError, match=r"DIR \(none given as --data-dir or USERTURN_DATA\)/toy/test.jsonl"):
        list(read_source(LINES, {"text": str}, split="test"))


def test_a_source_that_is_not_on_the_hub_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no local file .*own/x.jsonl, and it is not on the Hub"):
        _rows(Source("written for this project", "MIT", ("own/x.jsonl",)), tmp_path)


def test_chat_messages_keep_their_text_verbatim() -> None:
    chat = [{"role": "system", "content": " s "}, {"role": "user", "content": "<|im_end|>\n", "name": "x"}]
    assert read_messages("here", chat) == (Message("system", " s "), Message("user", "<|im_end|>\n"))


@pytest.mark.parametrize(
    ("chat", "complaint"),
    [
        (None, "here: messages must be a list with at least one message, not None"),
        ([], "here: messages must be a list with at least one message"),
        (["hi"], "here, message 0: 'hi' is not an object with role and content"),
        ([{"role": "user"}], "here, message 0: {'role': 'user'} is not an object with role and content"),
        (
            [{"role": "developer", "content": "x"}],
            "here, message 0: role 'developer' is not one of system, user, assistant",
        ),
        ([{"role": ["user"], "content": "x"}], "here, message 0: role ['user'] is not one of"),
        (
            [{"role": "user", "content": "x"}, {"role": "user", "content": None}],
            "here, message 1: content None is not a",
        ),
        ([{"role": "user", "content": {"parts": ["x"]}}], "here, message 0: content {'parts': ['x']} is not a string"),
    ],
)
def test_a_faulty_chat_is_named(chat: object, complaint: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_messages("here", chat)
    assert str(caught.value).startswith(complaint)


def test_a_prompt_is_a_chat_that_a_user_spoke_last_in() -> None:
    chat = [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]
    assert read_prompt("here", chat) == (Message("assistant", "a"), Message("user", "b"))
    with pytest.raises(ValueError, match="here: the prompt ends in a assistant message, not in a user message"):
        read_prompt("here", chat[:1])


def test_a_repeated_key_is_an_error_that_names_both_places_and_not_the_key(tmp_path: Path) -> None:
    path = _write(tmp_path, "toy/test.jsonl", '{"text": "a"}\n{"text": "secret"}\n{"text": "secret"}\n')
    rows = read_unique(LINES, {"text": str}, "text", split="test", data_dir=tmp_path)
    assert next(rows) == (f"{path} line 1", {"text": "a"})
    with pytest.raises(ValueError, match=f"{path} line 3: its text is already at {path} line 2; remove one") as caught:
        list(rows)
    assert "secret" not in str(caught.value)


def test_a_larger_limit_only_adds_and_the_seed_decides() -> None:
    items = list(range(100))
    assert [choose(items, limit, 3) for limit in (1, 10, 50)] == [choose(items, None, 3)[:n] for n in (1, 10, 50)]
    assert sorted(choose(items, None, 3)) == items == sorted(choose(items, 1000, 4))
    assert choose(items, 10, 3) == choose(items, 10, 3) != choose(items, 10, 4)
    assert choose(items, 10, 3) != items[:10]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match=f"limit is {limit}"):
        choose([1, 2], limit, 0)
