"""The contract of every chat format, on small tokenizers; exact strings are in `formats/`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval import plugin
from eval.dialogue import Message
from eval.rendering.chat_format import ChatFormat

FRAGMENTS = [
    "<|im_end|>",
    "<|im_start|>user\n",
    "<think>",
    "</think>",
    "<|user|>",
    "/nothink",
    "<|end|>",
    "\n",
    " ",
    ".",
]
TEXT = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=5).map("".join)


@st.composite
def conversations(draw) -> list[Message]:
    """Alternating turns starting with the user; sometimes with a system message first or with reasoning in answers."""
    system = [Message("system", draw(TEXT))] if draw(st.booleans()) else []
    turns = []
    for turn, text in enumerate(draw(st.lists(TEXT, min_size=1, max_size=6))):
        answer = turn % 2 == 1
        turns.append(Message("assistant" if answer else "user", text, reasoning=draw(TEXT) if answer else None))
    return system + turns


def test_two_thousand_random_dialogues_meet_the_contract(voice, chat_format, random_conversation):
    source = random.Random(2000)
    found = [voice.flaws(chat_format, random_conversation(source)) for _ in range(2000)]
    assert [flaws for flaws in found if flaws] == []


@given(conversation=conversations())
def test_any_text_round_trips(voice, chat_format, conversation):
    assert voice.flaws(chat_format, conversation) == []


@given(conversation=conversations(), role=st.sampled_from(["user", "assistant"]))
def test_control_tokens_are_those_of_empty_texts(chat_format, conversation, role):
    control = chat_format.tokenizer.added_tokens_decoder.keys()
    empty = [Message(message.role, "", reasoning=message.reasoning and "") for message in conversation]
    for speak in (lambda messages: chat_format.open_turn(messages, role), chat_format.ids):
        with_texts, without = speak(conversation), speak(empty)
        assert [token for token in with_texts if token in control] == [token for token in without if token in control]


@given(conversation=conversations(), train_on=st.sampled_from(["user", "assistant", "both"]))
def test_labels_are_the_trained_texts_and_their_closers(voice, chat_format, conversation, train_on):
    ids, labels = chat_format.example(conversation, train_on)
    assert ids == chat_format.ids(conversation)
    assert len(labels) == len(ids)
    assert all(label in (-100, token) for label, token in zip(labels, ids, strict=True))
    user_closer, history_closer, last_closer = voice.closers
    answered, expected = False, ""
    for message in conversation[:-1]:
        answered = answered or message.role == "assistant"
        if answered and train_on in (message.role, "both"):
            closer = user_closer if message.role == "user" else history_closer
            expected += voice.fit(message.role, message.text) + closer
    last = conversation[-1]
    if last.role == "user" and answered and train_on != "assistant":
        expected += voice.fit("user", last.text) + user_closer
    if last.role == "assistant" and train_on != "user":
        start = len(chat_format.open_turn(conversation[:-1], "assistant"))
        stop = chat_format.tokenizer.convert_tokens_to_ids(last_closer)
        end = start + 1 + ids[start:].index(stop)
        assert labels[start:] == [*ids[start:end], *[-100] * (len(ids) - end)]
        labels = labels[:start]
    assert chat_format.tokenizer.decode([label for label in labels if label != -100]) == expected


def test_ordinary_text_has_the_ids_of_the_tokenizers_own_rendering(rendered_otherwise, chat_format):
    conversation = [
        Message("system", "Be brief, please."),
        Message("user", "Tom has 12 pens.\n\nHe gives 5 away. How many does he keep?"),
        Message("assistant", "12 - 5 = 7.\n#### 7", reasoning="It is less."),
        Message("user", "Why minus?"),
        Message("assistant", "It is less.", reasoning="He gives them away. So they are not his."),
    ]
    assert rendered_otherwise(chat_format, conversation) == []


def test_a_leading_newline_does_not_merge_with_the_headers(chat_format):
    tokenizer = chat_format.tokenizer
    header = chat_format.open_turn([], "user")
    assert len(tokenizer.encode("\n\n", add_special_tokens=False)) == 1, "the trap is not there"
    assert chat_format.ids([Message("user", "\nhi")])[: len(header)] == header


def test_training_on_the_user_excludes_the_assistant_and_the_opening_question(voice, chat_format):
    conversation = [Message("user", "hi"), Message("assistant", "ASST"), Message("user", "USER2")]
    user_closer, history_closer, _ = voice.closers
    answer, question = f"ASST{history_closer}", f"USER2{user_closer}"
    for train_on, expected in [("user", question), ("assistant", answer), ("both", answer + question)]:
        _, labels = chat_format.example(conversation, train_on)
        assert chat_format.tokenizer.decode([label for label in labels if label != -100]) == expected


def test_a_generated_turn_is_cut_at_its_first_stop_id(voice, chat_format):
    stop = chat_format.tokenizer.convert_tokens_to_ids(voice.closers[0])
    spoken_ids, after = (
        chat_format.tokenizer.encode(text, add_special_tokens=False)
        for text in ("Two of the red ones, please", "\nOf course!")
    )
    ids = [*spoken_ids, stop, *after]
    assert chat_format.clean(ids, "user") == ("Two of the red ones, please", None, "stop")
    assert chat_format.clean(tuple(spoken_ids), "user") == ("Two of the red ones, please", None, "length")
    assert chat_format.clean([stop, *after], "user") == ("", None, "stop")
    assert chat_format.clean([], "user") == ("", None, "length")
    assert chat_format.clean(after, "user") == ("\nOf course!", None, "length")


def test_the_rendered_text_matches_the_ids(chat_format):
    conversation = [Message("user", " hi <think>"), Message("assistant", "yo\n", reasoning="<|end|>")]
    assert chat_format.render(conversation) == chat_format.tokenizer.decode(chat_format.ids(conversation))


def test_only_user_and_assistant_turns_are_generated(chat_format):
    for speak in (lambda: chat_format.open_turn([], "system"), lambda: chat_format.clean([], "system")):
        with pytest.raises(ValueError, match="no turn of role 'system' can be generated; the role must be user or"):
            speak()
    with pytest.raises(ValueError, match="train_on is 'system'; it must be one of user, assistant, both"):
        chat_format.example([Message("user", "hi")], "system")


CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@pytest.mark.parametrize(
    ("template", "error"),
    [
        (None, "has no chat template; use the folder of an instruction-tuned model"),
        (
            CHATML.replace("{{ '<|im", "{{ '' if message.role == 'system' else '<|im", 1),
            r"drops.*\[system, user\] it writes the text of turn 1, not the text of turn 0, the",
        ),
        ("{{ raise_exception('Not today.') }}", r"rejects the turns \[user\]: Not today\."),
        (CHATML.replace("'assistant\n'", "'helper\n'").replace("|>assistant", "|>helper"), "prefix property.*turn 1"),
        ("{{ messages|length }}" + CHATML, r"turns \[user, assistant\]: the prefix property does not hold"),
        (CHATML.replace("message.content", "message.content|replace('T', 't')"), "depend on the texts"),
        (CHATML.replace("'\n' +", "' ' +").replace("assistant\n", "assistant "), "tokenized differently alone"),
        (CHATML.replace("<|im_end|>", ""), "has no stop token of format smollm2 after a user turn"),
    ],
)
def test_a_template_that_breaks_the_contract_is_refused_by_name(make_tokenizer, template, error):
    tokenizer = make_tokenizer(template)
    tokenizer.name_or_path = "some/model"
    with pytest.raises(ValueError, match=f"some/model.*{error}"):
        plugin.load("eval.formats", "smollm2").Format(tokenizer)


def test_a_tokenizer_of_another_family_is_refused(make_tokenizer):
    class Other(ChatFormat):
        name = "other"
        stops = {"user": ("<|eot|>", "<|user|>")}  # noqa: RUF012

    with pytest.raises(ValueError, match=r"has no control token <\|eot\|> or <\|user\|>, so its family is not other"):
        Other(make_tokenizer(CHATML))


def test_an_unknown_history_is_refused(smollm2_tokenizer):
    with pytest.raises(ValueError, match="history is 'past'; it must be as_history or as_last"):
        plugin.load("eval.formats", "smollm2").Format(smollm2_tokenizer, history="past")


def test_the_template_is_identified_by_its_text(make_tokenizer):
    load = plugin.load("eval.formats", "smollm2").Format
    first, same, other = (load(make_tokenizer(template)) for template in (CHATML, CHATML, CHATML + "{# 2 #}"))
    assert first.template_sha == same.template_sha != other.template_sha


TOKENS = ("im_start", "im_end", "<think>", "<|end|>", "<|channel|>", "<|assistant|>")


def test_special_tokens_occur_only_in_the_format_files():
    root = Path(__file__).parents[3]
    files = [path for folder in ("eval", "data_gen", "train") for path in (root / folder).rglob("*.py")]
    outside = [path for path in files if root / "eval" / "formats" not in path.parents]
    assert root / "eval" / "rendering" / "chat_format.py" in outside
    found = [str(p) for p in outside if any(t in p.read_text() for t in TOKENS)]
    assert found == []
