"""The prefix contract on a tokenizer: kept by the families' templates, and its breach is found."""

from __future__ import annotations

import pytest

from eval.checks.chat_template import awkward, prefix_flaws, template_check
from eval.checks.finding import Check, examine
from eval.config import Plugin
from eval.rendering.model_format import open_chat_format

GROWING = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + ' of ' + messages|length|string + '\n' + "
    "message.content + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|im_start|>assistant of ' + messages|length|string + '\n' }}{% endif %}"
)
"""Says in every header how long the conversation is, so that what opens a turn does not begin what comes of it."""


def found(check: Check):
    return dict(examine([check]))[check.name]


@pytest.mark.parametrize(
    ("family", "fixture"),
    [("smollm2", "smollm2_tokenizer"), ("qwen3_5", "qwen3_5_tokenizer"), ("harmony", "harmony_tokenizer")],
)
def test_the_families_keep_it(family, fixture, request, tmp_path) -> None:
    request.getfixturevalue(fixture).save_pretrained(tmp_path)
    finding = found(template_check(lambda: open_chat_format(tmp_path, Plugin(name=family))))
    assert finding.status == "pass", finding.told
    assert ("6 x 7 = 42." in finding.shown and finding.shown.rstrip().endswith("user")) or family == "harmony"


def test_a_template_that_breaks_it_is_a_failure(make_tokenizer, tmp_path) -> None:
    make_tokenizer(GROWING).save_pretrained(tmp_path)
    finding = found(template_check(lambda: open_chat_format(tmp_path, Plugin(name="smollm2"))))
    assert finding.status == "fail" and "prefix property does not hold" in finding.told
    assert "template that the model was published with" in finding.todo


def test_flaws_of_a_conversation_are_found(smollm2_tokenizer, monkeypatch, tmp_path) -> None:
    """As code would have it that appends a header to the wrong rendering."""
    smollm2_tokenizer.save_pretrained(tmp_path)
    opened = open_chat_format(tmp_path, Plugin(name="smollm2"))
    conversations = list(awkward(opened))
    assert not [flaw for conversation in conversations for flaw in prefix_flaws(opened, conversation)]
    right = opened.open_turn
    monkeypatch.setattr(opened, "open_turn", lambda messages, role: [*right(messages, role), 1])
    assert all(list(prefix_flaws(opened, conversation)) for conversation in conversations)
    assert found(template_check(lambda: opened)).status == "fail"


def test_the_naive_rendering_is_a_warning(qwen3_5_tokenizer, tmp_path) -> None:
    qwen3_5_tokenizer.save_pretrained(tmp_path)
    finding = found(template_check(lambda: open_chat_format(tmp_path, Plugin(name="qwen3_5"), "as_last")))
    assert finding.status == "warn" and "<think>" in finding.shown
