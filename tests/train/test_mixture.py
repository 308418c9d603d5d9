"""What is trained on and what is left out; everything is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval import plugin
from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Message
from eval.rendering.chat_format import IGNORED
from train.mixture import mix
from train.training_rows import RowFile, TrainingRow


@pytest.fixture(scope="module")
def chat_format(smollm2_tokenizer):
    return plugin.load("eval.formats", "smollm2").Format(smollm2_tokenizer)


def rows(dialogues, path="x.jsonl"):
    return RowFile(path, "0" * 64, [TrainingRow(d, f"{path} line {n}") for n, d in enumerate(dialogues, start=1)])


@pytest.fixture
def conversations(make_conversation):
    return rows([make_conversation(number) for number in range(12)])


def test_replay_has_its_share_and_weight(chat_format, conversations, make_solution):
    graded = rows([make_solution(number, correct=number % 2 == 0) for number in range(20)])
    settings = {"train_on": "user", "max_length": 512, "share": 0.25, "weight": 0.5}
    mixture = mix(conversations, graded, chat_format, **settings)
    assert {source: len(examples) for source, examples in mixture.examples.items()} == {
        "conversations": 12,
        "replay": 4,
    }
    assert {example.weight for example in mixture.examples["replay"]} == {0.5}
    assert mixture.left_out == {("replay", "graded wrong"): 10, ("replay", "beyond the share"): 6}
    again, other = (mix(conversations, graded, chat_format, **settings, seed=seed) for seed in (0, 1))
    assert again == mixture and other.examples["replay"] != mixture.examples["replay"]


def test_too_little_replay_is_all_used_and_counted(chat_format, conversations, make_solution):
    graded = rows([make_solution(1), make_solution(2, correct=None)])
    mixture = mix(conversations, graded, chat_format, train_on="user", max_length=512, share=0.25)
    assert len(mixture.examples["replay"]) == 1
    assert mixture.left_out == {("replay", "not graded"): 1, ("replay", "short of the share"): 3}


def test_replay_trains_the_graded_answer_and_nothing_else(chat_format, conversations):
    asked, said = Message("user", "Add 1 to 1."), Message("assistant", "It is 2.", "tiny", "stop", 4)
    more = (Message("user", "And 3?"), Message("assistant", "It is 5.\n#### 5"), Message("user", "Why 5?"))
    graded = Dialogue("gsm8k", (asked, said, *more), meta={"split": "train"}, correct=True)
    mixture = mix(conversations, rows([graded]), chat_format, train_on="user", max_length=512, share=0.1)
    (example,) = mixture.examples["replay"]
    trained = chat_format.decode([label for label in example.labels if label != IGNORED])
    assert trained.startswith("It is 5.\n#### 5") and "Why" not in chat_format.decode(example.input_ids)


def test_what_is_too_long_failed_or_cut_off_is_left_out_and_counted(chat_format, make_conversation):
    whole = make_conversation(1)
    long = Dialogue("collab", (*whole.messages[:2], Message("user", "word " * 400)))
    failed = replace(make_conversation(2), failure=Failure("generate", "template"))
    cut_off = Dialogue("collab", (*whole.messages[:2], Message("user", "Why do", "tiny", "length", 2)))
    cut_answer = Dialogue("collab", (whole.messages[0], replace(whole.messages[1], finish="length"), whole.messages[2]))
    mixture = mix(rows([whole, long, failed, cut_off, cut_answer]), None, chat_format, train_on="user", max_length=200)
    assert [example.id for example in mixture.all] == [whole.id, cut_answer.id]
    assert mixture.left_out == {
        ("conversations", "longer than 200 tokens"): 1,
        ("conversations", "failed to generate"): 1,
        ("conversations", "a trained turn was cut off"): 1,
    }


def test_a_row_that_trains_nothing_is_an_error_with_its_id(chat_format, make_conversation):
    opening = Dialogue("collab", make_conversation(1).messages[:2])
    with pytest.raises(ConfigError, match=rf"x\.jsonl line 2 \(id {opening.id}\): no token is trained on"):
        mix(rows([make_conversation(2), opening]), None, chat_format, train_on="user", max_length=200)


def test_nothing_left_to_train_on_is_an_error(chat_format, conversations, make_solution):
    with pytest.raises(ConfigError, match=r"leaves nothing to train on: 12 conversations: longer than 10 tokens"):
        mix(conversations, None, chat_format, train_on="user", max_length=10)
    with pytest.raises(ConfigError, match=r"has no right answer to train on: 1 replay: graded wrong"):
        wrong = rows([make_solution(1, correct=False)])
        mix(conversations, wrong, chat_format, train_on="user", max_length=512, share=0.2)


def test_a_replay_without_a_right_answer_is_not_explained_by_the_conversations(
    chat_format, make_conversation, make_solution
):
    cut_off = replace(make_conversation(1), failure=Failure("generate", "empty"))
    with pytest.raises(ConfigError, match=r"no right answer to train on: 1 replay: graded wrong$"):
        wrong = rows([make_solution(1, correct=False)])
        both = rows([make_conversation(2), cut_off])
        mix(both, wrong, chat_format, train_on="user", max_length=512, share=0.2)
