"""Text that does nothing."""

from __future__ import annotations

import json
import re

from eval.report_page.inert import json_for_html, visible


def test_json_for_html_is_inert_and_means_the_same(hostile: tuple[str, ...]) -> None:
    for text in (*hostile, "emoji \U0001f680 \u4f60", "\udc00\ud800"):
        encoded = json_for_html([text])
        assert json.loads(encoded) == [text]
        assert not re.search("[<>&\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]", encoded)
        assert encoded.encode()


def test_visible_spells_out_what_is_not_seen_and_leaves_the_rest() -> None:
    assert visible("a\x00\x1b\x7f") == "a⟦U+0000⟧⟦U+001B⟧⟦U+007F⟧"
    assert visible("\u202e\u3164\ud800\U000e0041") == "⟦U+202E⟧⟦U+3164⟧⟦U+D800⟧⟦U+E0041⟧"
    assert visible("é 你好 \u05d0 🚀\n\tx") == "é 你好 \u05d0 🚀\n\tx"
