"""The record: immutable, hashable by content, exactly restored from JSON, always in one of five states."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.dialogue import STATES, Dialogue, Failure, Judgement, Message, content_hash

MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant"]),
    text=st.text(),
    by=st.sampled_from(["data", "model"]),
    finish=st.sampled_from([None, "stop", "length"]),
    tokens=st.none() | st.integers(0, 99),
    reasoning=st.none() | st.text(),
)
DIALOGUES = st.builds(
    Dialogue,
    task=st.text(min_size=1),
    messages=st.lists(MESSAGES, max_size=4).map(tuple),
    reference=st.none() | st.text(),
    meta=st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())),
    correct=st.none() | st.booleans(),
    judgement=st.none() | st.builds(Judgement, label=st.text(), genuine=st.booleans(), judge=st.text()),
    failure=st.none() | st.builds(Failure, stage=st.sampled_from(["load", "generate", "judge"]), kind=st.text()),
)


@given(DIALOGUES)
def test_json_restores_an_equal_dialogue(dialogue: Dialogue) -> None:
    assert Dialogue.from_json(json.loads(json.dumps(dialogue.to_json()))) == dialogue


@given(DIALOGUES)
def test_a_row_written_before_there_was_a_reasoning_is_read_without_one(dialogue: Dialogue) -> None:
    row = dialogue.to_json()
    row["messages"] = [{key: m[key] for key in m if key != "reasoning"} for m in row["messages"]]
    assert [m.reasoning for m in Dialogue.from_json(row).messages] == [None] * len(dialogue.messages)


def test_an_id_is_older_than_the_reasoning_and_sees_it() -> None:
    question = Message("user", "hi")
    assert Dialogue("toy", (question,)).id == "9b499a081cad6037"
    thought = Dialogue("toy", (question, Message("assistant", "yo", reasoning="hm")))
    assert thought.id != Dialogue("toy", (question, Message("assistant", "yo"))).id


@given(DIALOGUES)
def test_every_dialogue_has_one_of_the_five_states(dialogue: Dialogue) -> None:
    assert dialogue.state in STATES


def test_a_result_is_a_judgement_or_a_failure() -> None:
    dialogue = Dialogue("toy", (Message("user", "hi"),))
    judgement, failure = Judgement("other", False, "judge"), Failure("judge", "no_reply")
    assert dialogue.with_result(judgement) == replace(dialogue, judgement=judgement)
    assert dialogue.with_result(failure) == replace(dialogue, failure=failure)


def test_the_id_is_of_what_was_loaded_and_survives_the_stages() -> None:
    loaded = Dialogue("toy", (Message("user", "hi"),), meta={"row": 1})
    assert loaded.id == Dialogue("toy", (Message("user", "hi"),), meta={"row": 1}).id
    assert loaded.id != Dialogue("toy", (Message("user", "hi"),), meta={"row": 2}).id
    spoken = loaded.says(Message("assistant", "yo", "model", "stop", 2))
    assert spoken.id == loaded.id
    assert [m.text for m in spoken.messages] == ["hi", "yo"]
    assert len(loaded.messages) == 1


def test_states() -> None:
    loaded = Dialogue("toy", (Message("user", "hi"), Message("assistant", "yo", "m", "length", 9)))
    assert loaded.says(Message("user", "why", "m", "stop", 2)).state == "ok"
    assert loaded.says(Message("user", "why", "m", "length", 2)).state == "truncated"
    for stage, state in (("load", "skipped"), ("generate", "gen_error"), ("judge", "judge_error")):
        assert replace(loaded, failure=Failure(stage, "kind")).state == state  # type: ignore[arg-type]


def test_a_dialogue_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Dialogue("toy", ()).task = "other"  # type: ignore[misc]


@pytest.mark.parametrize(("role", "text"), [("developer", "x"), ("User", "x"), ("user", None), ("user", 3)])
def test_a_message_has_a_known_role_and_a_string(role: str, text: object) -> None:
    with pytest.raises(ValueError, match=r"role|text"):
        Message(role, text)  # type: ignore[arg-type]


def test_the_hash_ignores_key_order_and_sees_every_value() -> None:
    assert content_hash({"a": 1, "b": [2]}) == content_hash({"b": [2], "a": 1})
    assert len({content_hash(value) for value in (1, "1", 1.5, True, None, [1], {"1": 1})}) == 7
