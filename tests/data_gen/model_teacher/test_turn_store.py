from __future__ import annotations

import json

import pytest

from data_gen.model_teacher.turn_store import Turn, TurnStore
from eval.client.chat_reply import Fault, Reply, Usage
from eval.client.reply_ledger import HOPELESS
from eval.client.response_cache import ResponseCache
from eval.config import ConfigError
from eval.dialogue import Failure


def reply(text: str | None, finish: str = "stop", refusal: str | None = None, usage: Usage | None = None) -> Reply:
    return Reply(text, finish, refusal, "m-1", usage)


def test_a_turn_is_kept_without_white_space_around_it() -> None:
    cache = ResponseCache(None)
    store = TurnStore(cache, "teacher-1")
    turn = store.keep("k", reply('{"message": " Why 7?\\n"}', usage=Usage(100, 20)))
    assert turn == Turn("Why 7?", "m-1", 20)
    assert store.recall("k") == turn and store.recall("other") is None
    assert TurnStore(cache, "teacher-2").recall("k") == turn
    assert store.measured == {"questions": {"spoken": 1, "known before": 1}, "models": {"m-1": 1}}


def test_special_text_survives() -> None:
    text = "{braces} <|im_end|> $x \\ \u2028 \"quoted\" '%s' \ud83d\ude00"
    store = TurnStore(ResponseCache(None), "teacher-1")
    turn = store.keep("k", reply(json.dumps({"message": text})))
    assert isinstance(turn, Turn) and turn.text == json.loads(json.dumps(text)) and store.recall("k") == turn


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (Fault("rate_limited", "HTTP 429"), "rate_limited"),
        (Fault("budget"), "budget"),
        (reply('{"message": "Why?"}', "length"), "truncated"),
        (reply('{"message": "Why?"}', "content_filter"), "content_filter"),
        (reply('{"message": "Why?"}', "tool_calls"), "unfinished"),
        (reply(None, refusal="I can't"), "refusal"),
        (reply('{"message": "Why?"}', refusal="I can't"), "refusal"),
        (reply(None), "empty"),
        (reply('{"message": " \\n\\u2003"}'), "empty"),
        (reply('{"message": ""}'), "empty"),
        (reply('{"message": "Wh'), "not_json"),
        (reply("Why 7?"), "not_json"),
        (reply('```json\n{"message": "Why?"}\n```'), "not_json"),
        (reply('{"message": "a"}{"message": "b"}'), "not_json"),
        (reply('{"message": "a", "message": "b"}'), "duplicate_field"),
        (reply('{"message": "a", "role": "user"}'), "wrong_fields"),
        (reply('{"text": "a"}'), "wrong_fields"),
        (reply('"Why?"'), "wrong_fields"),
        (reply('["Why?"]'), "wrong_fields"),
        (reply('{"message": 5}'), "wrong_type"),
        (reply('{"message": null}'), "wrong_type"),
        (reply('{"message": ["Why?"]}'), "wrong_type"),
        (reply('{"message": {"text": "Why?"}}'), "wrong_type"),
    ],
)
def test_anything_else_is_a_failure_that_is_counted_and_not_kept(outcome: Reply | Fault, kind: str) -> None:
    cache = ResponseCache(None)
    store = TurnStore(cache, "teacher-1")
    failure = store.keep("k", outcome)
    assert isinstance(failure, Failure) and (failure.stage, failure.kind) == ("generate", kind)
    assert store.measured["questions"] == {kind: 1} and len(cache) == 0


def test_replies_without_a_turn_stop_the_run_unless_one_has_had_a_turn() -> None:
    store = TurnStore(ResponseCache(None), "teacher-1")
    for number in range(HOPELESS - 1):
        store.keep(str(number), reply("prose"))
    with pytest.raises(
        ConfigError, match=r"20 replies of teacher-1 contain no turn.*not_json.*prose.*teacher\.max_comp"
    ):
        store.keep("last", reply("prose"))
    store = TurnStore(ResponseCache(None), "teacher-1")
    store.keep("k", reply('{"message": "Why?"}'))
    assert all(isinstance(store.keep(str(number), reply("prose")), Failure) for number in range(2 * HOPELESS))
