"""Rows are read with their locations; what is not a dialogue or is evaluated on is refused with its location."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Message
from train.training_rows import read_training_rows


def test_rows_are_read_with_or_without_a_key(tmp_path, make_conversation, write_dialogues):
    dialogues = [make_conversation(number) for number in range(3)]
    bare = read_training_rows(write_dialogues(tmp_path / "bare.jsonl", dialogues))
    assert [row.dialogue for row in bare.rows] == dialogues
    assert [row.place for row in bare.rows] == [f"{tmp_path}/bare.jsonl line {line}" for line in (1, 2, 3)]
    keyed = read_training_rows(write_dialogues(tmp_path / "keyed.jsonl", dialogues, key="one"))
    assert [row.dialogue for row in keyed.rows] == dialogues[-1:]
    assert len(bare.sha256) == 64 and bare.sha256 != keyed.sha256


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "Expecting property name"),
        ("[]", "it is not a JSON object"),
        ('"text"', "it is not a JSON object"),
        ('{"task": "x"}', "it has no messages"),
        ("{}", "it has no task and no messages"),
        ('{"task": "x", "messages": "hello"}', "its messages are not a list"),
        ('{"task": "x", "messages": ["hello"]}', "its message 1 is not a JSON object"),
        ('{"task": "x", "messages": [{"role": "user"}]}', "its message 1 has no text, but role"),
        (
            '{"task": "x", "messages": [{"role": "user", "content": "Hi"}]}',
            "its message 1 has no text, but role, content",
        ),
        ('{"task": "x", "messages": [{"role": "robot", "text": "Hi"}]}', "role 'robot' is not one of system"),
        ('{"task": "x", "messages": [{"role": "user", "text": 3}]}', "text of a user message is of type int"),
        (
            '{"task": "x", "messages": [{"role": "user", "text": "Hi", "tools": 3}]}',
            "unexpected keyword argument 'tools'",
        ),
    ],
)
def test_a_line_that_is_not_a_dialogue_is_refused_with_an_example(
    tmp_path, make_conversation, write_dialogues, line, reason
):
    path = write_dialogues(tmp_path / "rows.jsonl", [make_conversation()])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(
        ConfigError, match=rf"rows\.jsonl line 2 is not a dialogue: .*{reason}.*; a line is .*data_gen\.run"
    ):
        read_training_rows(path)


def test_a_file_that_is_not_there_says_what_makes_it(tmp_path):
    with pytest.raises(ConfigError, match=r"no training data .*none\.jsonl.*python -m data_gen\.run"):
        read_training_rows(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(ConfigError, match="has no rows"):
        read_training_rows(tmp_path / "empty.jsonl")


@pytest.mark.parametrize(
    ("task", "meta"),
    [
        ("healthbench", {}),
        ("coval", {}),
        ("ifeval", {}),
        ("ifbench", {}),
        ("gpqa_diamond", {}),
        ("gsm8k", {"split": "test"}),
        ("gsm8k", {}),
        ("pocket_conversations", {}),
        ("collab", {"canary": "x"}),
    ],
)
def test_a_row_of_an_evaluation_fails_the_run(tmp_path, make_conversation, write_dialogues, task, meta):
    planted = Dialogue(task, make_conversation(3).messages, meta=meta)
    path = write_dialogues(tmp_path / "rows.jsonl", [make_conversation(), planted])
    with pytest.raises(ConfigError, match=rf"line 2 \(id {planted.id}\) is a row of {task}.*evaluated on"):
        read_training_rows(path)


def test_gsm8k_train_rows_may_be_trained_on(tmp_path, make_solution, write_dialogues):
    spoken = make_solution(1).says(Message("user", "Why 7?"))
    rows = [make_solution(0), replace(spoken, id=spoken.id)]
    assert len(read_training_rows(write_dialogues(tmp_path / "rows.jsonl", rows)).rows) == 2
