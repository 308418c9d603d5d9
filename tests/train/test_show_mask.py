"""The shown text is the text of the ids, and trained tokens are marked even without colour."""

from __future__ import annotations

import io

from rich.console import Console

from eval.dialogue import Dialogue, Message
from train.examples import training_examples
from train.mixture import Mixture
from train.show_mask import CLOSE, OPEN, SHOWN, marked, show_masks

TURNS = (Message("user", "hi"), Message("assistant", "[b]yo\x07[/b]"), Message("user", "USER2"))


def test_trained_spans_are_in_brackets(voice, chat_format):
    (example,) = training_examples(Dialogue("collab", TURNS), chat_format, "user")
    text = marked(example, chat_format).plain
    begin, end = text.index(OPEN), text.rindex(CLOSE)
    assert text[begin + 1 :].startswith("USER2") and end == len(text) - 1
    assert "\x07" not in text and "[b]yo\u2407[/b]" in text
    shown = text.replace(OPEN, "").replace(CLOSE, "").replace("\u2407", "\x07")
    assert shown == chat_format.decode(example.input_ids)


def test_a_few_of_each_source_are_shown(chat_format):
    (example,) = training_examples(Dialogue("collab", TURNS), chat_format, "user")
    out = io.StringIO()
    show_masks(Mixture({"conversations": [example] * 9, "replay": [example]}), chat_format, Console(file=out, width=20))
    told = out.getvalue()
    assert told.count(f"conversations {example.id}: ") == SHOWN and told.count(f"replay {example.id}: ") == 1
    assert "\x1b" not in told
