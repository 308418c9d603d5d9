"""The contract of every chat format, on small ChatML tokenizers; exact strings are in `formats/`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval import plugin
from eval.chat_format import ChatFormat
from eval.dialogue import Message

FRAGMENTS = ["<|im_end|>", "<|im_start|>user\n", "<think>", "</think>", "<tool_response>", "\n", " ", "  ", "hi", "7"]
TEXT = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=5).map("".join)


@st.composite
def conversations(draw) -> list[Message]:
    """Alternating turns from a user's, a system message first at times."""
    system = [Message("system", draw(TEXT))] if draw(st.booleans()) else []
    texts = draw(st.lists(TEXT, min_size=1, max_size=6))
    return system + [Message("user" if turn % 2 == 0 else "assistant", text) for turn, text in enumerate(texts)]


@pytest.fixture(scope="session")
def formats(smollm2_tokenizer, qwen3_5_tokenizer) -> dict[str, ChatFormat]:
    return {
        "smollm2": plugin.load("eval.formats", "smollm2").Format(smollm2_tokenizer),
        "qwen3_5": plugin.load("eval.formats", "qwen3_5").Format(qwen3_5_tokenizer),
    }


families = pytest.mark.parametrize("family", ["smollm2", "qwen3_5"])


def stripped(family: str, text: str) -> str:
    return text.strip() if family == "qwen3_5" else text


@families
@given(conversation=conversations())
def test_what_opens_a_turn_begins_the_whole_conversation(formats, family, conversation):
    ids = formats[family].ids(conversation)
    for turn, message in enumerate(conversation):
        if message.role == "user" or (message.role == "assistant" and turn == len(conversation) - 1):
            opened = formats[family].open_turn(conversation[:turn], message.role)
            assert ids[: len(opened)] == opened


@families
@given(conversation=conversations(), role=st.sampled_from(["user", "assistant"]))
def test_control_tokens_are_those_of_empty_texts(formats, family, conversation, role):
    chat_format = formats[family]
    control = chat_format.tokenizer.added_tokens_decoder.keys()
    empty = [Message(message.role, "") for message in conversation]
    with_texts, without = (chat_format.open_turn(messages, role) for messages in (conversation, empty))
    assert [token for token in with_texts if token in control] == [token for token in without if token in control]


@families
@given(conversation=conversations(), train_on=st.sampled_from(["user", "assistant", "both"]))
def test_labels_are_the_trained_texts_and_their_closers(formats, family, conversation, train_on):
    chat_format = formats[family]
    ids, labels = chat_format.example(conversation, train_on)
    assert ids == chat_format.ids(conversation)
    assert len(labels) == len(ids)
    assert all(label in (-100, token) for label, token in zip(labels, ids, strict=True))
    answered, expected = False, ""
    for message in conversation:
        answered = answered or message.role == "assistant"
        if answered and train_on in (message.role, "both"):
            expected += stripped(family, message.text) + "<|im_end|>"
    assert chat_format.tokenizer.decode([label for label in labels if label != -100]) == expected


@families
@given(conversation=conversations())
def test_a_generated_turn_comes_back_as_it_was_said(formats, family, conversation):
    chat_format = formats[family]
    said = conversation[-1]
    generated = chat_format.ids(conversation)[len(chat_format.open_turn(conversation[:-1], said.role)) :]
    assert chat_format.clean(generated, said.role) == (stripped(family, said.text), "stop")


@families
def test_ordinary_text_has_the_ids_of_the_tokenizers_own_rendering(formats, family):
    chat_format = formats[family]
    conversation = [
        Message("system", "Be brief, please."),
        Message("user", "Tom has 12 pens.\n\nHe gives 5 away. How many does he keep?"),
        Message("assistant", "12 - 5 = 7.\n#### 7"),
        Message("user", "Why minus?"),
    ]
    turns = [{"role": message.role, "content": message.text} for message in conversation]
    own = {"tokenize": True, "return_dict": False, "enable_thinking": False}
    assert chat_format.ids(conversation) == chat_format.tokenizer.apply_chat_template(turns, **own)
    assert chat_format.open_turn(conversation, "assistant") == chat_format.tokenizer.apply_chat_template(
        turns, add_generation_prompt=True, **own
    )


@families
def test_a_leading_newline_does_not_merge_with_the_headers(formats, family):
    tokenizer = formats[family].tokenizer
    header = formats[family].open_turn([], "user")
    assert len(tokenizer.encode("\n\n", add_special_tokens=False)) == 1, "the trap is not there"
    assert header[-1:] == tokenizer.encode("\n", add_special_tokens=False)
    assert formats[family].ids([Message("user", "\nhi")])[: len(header)] == header


@families
def test_training_on_the_user_leaves_the_assistant_and_the_opening_question_out(formats, family):
    conversation = [Message("user", "hi"), Message("assistant", "ASST"), Message("user", "USER2")]
    for train_on, expected in [
        ("user", "USER2<|im_end|>"),
        ("assistant", "ASST<|im_end|>"),
        ("both", "ASST<|im_end|>USER2<|im_end|>"),
    ]:
        _, labels = formats[family].example(conversation, train_on)
        assert formats[family].tokenizer.decode([label for label in labels if label != -100]) == expected


@families
def test_a_generated_turn_is_cut_at_its_first_stop_id(formats, family):
    chat_format = formats[family]
    ids = chat_format.tokenizer.encode(
        "Two of the red ones, please<|im_end|>\n<|im_start|>assistant\nOf course!", add_special_tokens=False
    )
    stop = ids.index(chat_format.tokenizer.convert_tokens_to_ids("<|im_end|>"))
    assert chat_format.clean(ids, "user") == ("Two of the red ones, please", "stop")
    assert chat_format.clean(tuple(ids[:stop]), "user") == ("Two of the red ones, please", "length")
    assert chat_format.clean(ids[stop:], "user") == ("", "stop")
    assert chat_format.clean([], "user") == ("", "length")
    assert chat_format.clean(ids[stop + 1 :], "user")[0] == "\n<|im_start|>assistant\nOf course!"


@families
def test_the_shown_text_is_what_the_ids_say(formats, family):
    conversation = [Message("user", " hi <think>"), Message("assistant", "yo\n")]
    assert formats[family].render(conversation) == formats[family].tokenizer.decode(formats[family].ids(conversation))


@families
def test_only_user_and_assistant_turns_are_generated(formats, family):
    for speak in (lambda: formats[family].open_turn([], "system"), lambda: formats[family].clean([], "system")):
        with pytest.raises(ValueError, match="no turn of role 'system' can be generated; the role can be user or"):
            speak()
    with pytest.raises(ValueError, match="train_on is 'system'; it can be user, assistant, both"):
        formats[family].example([Message("user", "hi")], "system")


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
            r"drops.*\[system, user\].*\[1\]",
        ),
        ("{{ raise_exception('Not today.') }}", r"refuses the turns \[user\]: Not today\."),
        (CHATML.replace("'assistant\n'", "'helper\n'").replace("|>assistant", "|>helper"), "prefix property.*turn 1"),
        ("{{ messages|length }}" + CHATML, r"turns \[user, assistant\]: the prefix property does not hold"),
        (CHATML.replace("message.content", "message.content|replace('T', 't')"), "depends on the texts"),
        (CHATML.replace("'\n' +", "' ' +").replace("assistant\n", "assistant "), "other ids alone than together"),
        (CHATML.replace("<|im_end|>", ""), "writes no stop token of format smollm2 after a user turn"),
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

    with pytest.raises(ValueError, match=r"has no token <\|eot\|> or <\|user\|>, so its family is not other"):
        Other(make_tokenizer(CHATML))


def test_an_unknown_history_is_refused(smollm2_tokenizer):
    with pytest.raises(ValueError, match="history is 'past'; it can be as_history or as_last"):
        plugin.load("eval.formats", "smollm2").Format(smollm2_tokenizer, history="past")


def test_the_template_is_identified_by_its_text(make_tokenizer):
    load = plugin.load("eval.formats", "smollm2").Format
    first, same, other = (load(make_tokenizer(template)) for template in (CHATML, CHATML, CHATML + "{# 2 #}"))
    assert first.template_sha == same.template_sha != other.template_sha


def test_special_tokens_are_written_in_the_formats_alone():
    root = Path(__file__).parents[2]
    files = [path for folder in ("eval", "data_gen", "train") for path in (root / folder).rglob("*.py")]
    outside = [path for path in files if root / "eval" / "formats" not in path.parents]
    assert root / "eval" / "chat_format.py" in outside
    found = [str(p) for p in outside if any(t in p.read_text() for t in ("im_start", "im_end", "<think>"))]
    assert found == []
