"""Which tokens of a dialogue are trained: each turn of the chosen role once, with its closer, and nothing else."""

from __future__ import annotations

import random

import pytest

from eval.dialogue import Dialogue, Message
from eval.rendering.chat_format import IGNORED
from train.examples import training_examples

U, A, U2, A2, U3 = (
    Message("user", "QUERY"),
    Message("assistant", "ASST"),
    Message("user", "USER2"),
    Message("assistant", "ASST2"),
    Message("user", "USER3"),
)


def trained(chat_format, example) -> str:
    """The text of the trained tokens."""
    return chat_format.decode([label for label in example.labels if label != IGNORED])


def examples(chat_format, messages, train_on):
    return training_examples(Dialogue("collab", tuple(messages)), chat_format, train_on)


def test_the_trained_span_of_a_user_turn_is_its_text_and_its_closer(voice, chat_format, random_conversation):
    source = random.Random(7)
    checked = 0
    for _ in range(400):
        messages = random_conversation(source)
        turns = [message for message in messages if message.role != "system"]
        if len(turns) < 3:
            continue
        (example,) = examples(chat_format, messages, "user")
        wanted = [voice.fit("user", turn.text) + voice.closers[0] for turn in turns[2::2]]
        assert trained(chat_format, example) == "".join(wanted)
        assert example.labels[-1] != IGNORED and len(example.labels) == len(example.input_ids)
        checked += len(wanted)
    assert checked > 200


def test_a_user_turn_is_trained_under_the_ids_that_open_it(voice, chat_format):
    (example,) = examples(chat_format, [U, A, U2, A2, U3], "user")
    for turns in ([U, A], [U, A, U2, A2]):
        opened = chat_format.open_turn(turns, "user")
        assert example.input_ids[: len(opened)] == opened
        assert example.labels[len(opened) - 1] == IGNORED != example.labels[len(opened)]


def test_the_label_of_the_paper_example(voice, chat_format):
    (example,) = examples(chat_format, [U, A, U2], "user")
    assert trained(chat_format, example) == f"USER2{voice.closers[0]}"


def test_each_assistant_turn_is_trained_alone_where_generation_starts(voice, chat_format):
    first, second = examples(chat_format, [U, A, U2, A2, U3], "assistant")
    for example, before, said in ((first, [U], A), (second, [U, A, U2], A2)):
        opened = chat_format.open_turn(before, "assistant")
        assert example.input_ids[: len(opened)] == opened
        assert set(example.labels[: len(opened)]) == {IGNORED}
        assert IGNORED not in example.labels[len(opened) :]
        assert chat_format.clean(example.input_ids[len(opened) :], "assistant").text == said.text
        assert example.input_ids == chat_format.ids([*before, said])[: len(example.input_ids)]


def test_both_trains_every_turn_once(voice, chat_format):
    messages = [U, A, U2, A2, U3]
    made = examples(chat_format, messages, "both")
    alone = examples(chat_format, messages, "user") + examples(chat_format, messages, "assistant")
    assert made == alone and len(made) == 3
    said = "".join(trained(chat_format, example) for example in made)
    assert all(said.count(message.text) == 1 for message in (U3, A2)) and "QUERY" not in said


def test_an_opening_question_alone_cannot_be_trained_on(chat_format):
    for messages, train_on in (([U], "user"), ([U, A], "user"), ([U], "assistant")):
        with pytest.raises(ValueError, match=f"no token is trained on.*'{train_on}'"):
            examples(chat_format, messages, train_on)


def test_turns_that_do_not_alternate_are_refused(chat_format):
    for messages in ([A, U], [U, U2, A], [U, A, A2, U3], []):
        with pytest.raises(ValueError, match=r"must alternate|no token is trained on"):
            examples(chat_format, messages, "user")


def test_an_example_ends_with_its_last_trained_token(chat_format):
    messages = [U, A, U2, Message("assistant", "A long answer that costs time and trains nothing. " * 20)]
    (short,) = examples(chat_format, messages, "user")
    assert (short.input_ids, short.labels) == (
        examples(chat_format, [U, A, U2], "user")[0].input_ids,
        examples(chat_format, [U, A, U2], "user")[0].labels,
    )
    assert short.trained == sum(label != IGNORED for label in short.labels)


def test_examples_are_named_by_dialogue_and_turn(chat_format):
    dialogue = Dialogue("collab", (Message("system", "Be kind."), U, A, U2, A2))
    ids = [example.id for example in training_examples(dialogue, chat_format, "both", 0.5)]
    assert ids == [dialogue.id, f"{dialogue.id}#3", f"{dialogue.id}#5"]
    assert {example.weight for example in training_examples(dialogue, chat_format, "both", 0.5)} == {0.5}
