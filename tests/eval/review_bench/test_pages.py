"""Pages: what they show, and that text in them is nothing but text."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from eval.dialogue import Message
from eval.labels import LABELS
from eval.review_bench.decision import Decision
from eval.review_bench.pages import KEYS, Progress, done_page, item_page, start_page

HOSTILE = (
    "</div><script>ran()</script><img src=x onerror=ran()>",
    "{{ 7 * 7 }}{% raw %} <a href='javascript:ran()'>x</a> https://example.org",
    "<style>*{display:none}</style><!-- \" ' &lt;b&gt; <|im_end|>",
)


class Elements(HTMLParser):
    """What a parser finds: elements with their attributes, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def where(self, **attributes: str) -> list[dict[str, str | None]]:
        wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
        return [attrs for _, attrs in self.found if wanted.items() <= attrs.items()]


def page(*texts: str, decision: Decision | None = None, position: int = 2, **fields: bool) -> str:
    roles = ("user", "assistant") * len(texts)
    said = tuple(Message(role, text) for role, text in zip(roles, texts, strict=False))
    return item_page("Ada", position, said, decision or Decision(), Progress(1, 3, None), fields.get("undo", True))


def test_every_label_has_a_key_and_its_meaning() -> None:
    assert list(KEYS.values()) == list(LABELS) and "".join(KEYS) == "1234567890-"
    shown = Elements(page("q", "a", "t"))
    for key, label in KEYS.items():
        assert shown.where(name="label", value=label, data_key=key, aria_keyshortcuts=key)
        assert LABELS[label] in shown.text
    assert [shown.where(data_key=key) for key in "gnjku"].count([]) == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_nothing_but_text(text: str) -> None:
    plain, hostile = Elements(page("q", "a", "q2", "a2", "t")), Elements(page(text, text, text, text, text))
    assert [tag for tag, _ in hostile.found] == [tag for tag, _ in plain.found]
    assert [attrs for _, attrs in hostile.found] == [attrs for _, attrs in plain.found]
    assert hostile.text.count(text) == 5


def test_unseen_characters_are_boxes_with_names_and_the_page_can_be_sent() -> None:
    shown = page("q", "a", "x\u202ey\ud800\u200b\u200bz")
    assert "\u202e" not in shown and shown.encode()
    assert 'title="right-to-left override">U+202E</span>' in shown and "U+200B \u00d72</span>" in shown


def test_an_empty_turn_is_said_to_be_empty() -> None:
    assert "the text is empty" in page("q", "a", "")
    assert "white space (3 characters)" in page("q", "a", " \n ")
    assert 'class="nothing"' not in page("q", "a", "t")


def test_the_whole_earlier_conversation_is_there_and_told_apart() -> None:
    shown = Elements(page("first", "second", "third", "fourth", "turn-text"))
    places = [shown.text.index(text) for text in ("first", "second", "third", "fourth", "turn-text")]
    assert places == sorted(places)
    assert "2 messages" in shown.text and shown.where(aria_label="Earlier messages")
    assert not Elements(page("q", "a", "t")).where(aria_label="Earlier messages")
    said = (Message("system", "rules"), Message("user", "q"), Message("assistant", "a"), Message("user", "t"))
    assert "rules" in item_page("Ada", 1, said, Decision(), Progress(0, 1, None), False)


def test_what_is_decided_is_marked_and_a_contradiction_is_told() -> None:
    shown = Elements(page("q", "a", "t", decision=Decision("other", False)))
    assert [attrs.get("value") for attrs in shown.where(aria_pressed="true")] == ["no", "other"]
    assert "By its definition" not in shown.text
    assert "is never genuine" in Elements(page("q", "a", "t", decision=Decision("acknowledgement", True))).text
    assert "is always genuine" in Elements(page("q", "a", "t", decision=Decision("generic_followup", False))).text


def test_the_ends_of_the_list_have_no_way_beyond() -> None:
    first, last = Elements(page("q", "a", "t", position=1)), Elements(page("q", "a", "t", position=3))
    assert not first.where(rel="prev") and first.where(rel="next")[0]["href"] == "2"
    assert last.where(rel="prev")[0]["href"] == "2" and last.where(rel="next")[0]["href"] == "done"
    assert "disabled" in Elements(page("q", "a", "t", undo=False)).where(data_key="u")[0]


def test_progress_is_the_median_of_what_was_measured() -> None:
    decisions = {1: Decision("other", False, 4.0), 2: Decision("other", False, 90.0), 3: Decision("other", False, None)}
    progress = Progress.of({**decisions, 4: Decision("other", None, 500.0)}, 10)
    assert progress == Progress(3, 10, 47.0) and progress.minutes_left == 6
    assert Progress.of({}, 10).minutes_left is None


def test_other_pages_escape_too() -> None:
    assert "<b>" not in start_page({"<b>": Progress(0, 3, None)}, "<b>")
    shown = done_page("Ada", Progress(3, 3, 4.0), {label: 0 for label in LABELS} | {"other": 3}, Path("a b/<b>.sqlite"))
    assert "<b>" not in shown and "&#39;a b/" in shown and "All 3 decided" in shown
