"""The review bench in a real Chromium: by keyboard alone, saved before it moves on, blind, inert, readable.

`USERTURN_SCREENSHOTS=docs/review pytest -m browser -k screenshots` makes the pictures of docs/review.md anew.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.dialogue import Dialogue, Judgement, Message
from eval.labels import LABELS
from eval.review_bench.decision import Decision
from eval.review_bench.store import ReviewStore

pytest.importorskip("uvicorn", reason="no uvicorn; run `make setup`")
pytestmark = pytest.mark.browser

Review = Callable[..., Any]
HOSTILE = (
    "</div></script><script>window.ran = 1</script><img src=x onerror='window.ran = 2'>",
    "<img src=http://127.0.0.1:9/leak.png><iframe src=//a.b></iframe><link rel=prefetch href=//a.b> https://a.b/x",
    "<svg onload=alert(4)><a href='javascript:window.ran = 5'>x</a><form action=http://127.0.0.1:9><input autofocus>",
    "<style>* { display: none !important }</style><base href=http://127.0.0.1:9/><meta http-equiv=refresh content=0>",
    "{{ 7 * 7 }} {% raw %} <!--<script> ${window.ran = 6} &lt;b&gt; \" ' `",
)
STARTER = "My sourdough starter smells like nail varnish and hardly rises. I feed it once a week. Is it dead?"
REVIVE = (
    "It is not dead, only hungry. The smell is ethyl acetate, which yeast and bacteria make once they have used up the "
    """flour.

To bring it back:

1. Pour off all but a spoonful (about 20 g).
2. Feed it 40 g of flour and 40 g of water at 24 °C, twice a day, for three days.
3. When it doubles within 6 hours of a feeding, it is strong enough to bake with.

If it turns pink or orange, throw it away: no feeding helps against that."""
)


def row(number: int, turn: str, *context: str) -> Dialogue:
    """A finished row, judged genuine; its query holds its number."""
    said = context or (f"query {number}", f"answer {number}")
    roles = ("user", "assistant") * len(said)
    loaded = Dialogue("pocket", tuple(Message(role, text) for role, text in zip(roles, said, strict=False)))
    messages = (*loaded.messages, Message("user", turn, "tiny@0123", "stop", 2))
    judgement = Judgement("generic_followup", True, "local-7")
    return Dialogue("pocket", messages, judgement=judgement, id=loaded.id)


def at(seen: Any, place: int | str) -> None:
    """Wait until the page of an item is there."""
    seen.page.wait_for_url(f"**/by/Ada/{place}")


def decided(bench: Any) -> dict[int, tuple[str | None, bool | None]]:
    with ReviewStore(bench.store) as store:
        return {place: (decision.label, decision.genuine) for place, decision in store.decisions("Ada").items()}


def test_a_review_is_done_by_keyboard_alone(review: Review, visit: Any) -> None:
    bench = review([row(n, f"turn {n}") for n in range(4)], annotator=())
    seen = visit(bench.address)
    keyboard = seen.page.keyboard
    keyboard.type("Ada")
    keyboard.press("Enter")
    at(seen, 1)
    keyboard.press("9")
    seen.page.get_by_text("one of the two decisions is still open").wait_for()
    assert decided(bench) == {1: ("genuine_followup", None)}
    assert seen.page.locator("[aria-pressed=true]").get_attribute("value") == "genuine_followup"
    keyboard.press("g")
    at(seen, 2)
    keyboard.press("n")
    keyboard.press("-")
    at(seen, 3)
    assert decided(bench) == {1: ("genuine_followup", True), 2: ("other", False)}
    keyboard.press("u")
    at(seen, 2)
    assert decided(bench)[2] == (None, False)
    keyboard.press("0")
    at(seen, 3)
    keyboard.press("j")
    at(seen, 4)
    keyboard.press("k")
    at(seen, 3)
    keyboard.press("k")
    at(seen, 2)
    with seen.page.expect_navigation():  # keys that come before the page is there again are dropped
        keyboard.press("1")
    seen.page.locator("[aria-pressed=true][value=malformed_artifact]").wait_for()
    assert seen.page.url.endswith("/by/Ada/2"), "a decision that is changed leads nowhere"
    keyboard.press("j")
    at(seen, 3)
    for place, keys in ((3, "n2"), (4, "gn7")):
        at(seen, place)
        for key in keys:
            keyboard.press(key)
    at(seen, "done")
    assert "All 4 decided" in seen.page.locator("h1").inner_text()
    assert decided(bench) == {
        **{1: ("genuine_followup", True), 2: ("malformed_artifact", False)},
        **{3: ("degenerate_short", False), 4: ("new_task_prompt", False)},
    }
    with ReviewStore(bench.store) as store:
        assert all(decision.seconds and decision.seconds > 0 for decision in store.decisions("Ada").values())
    assert seen.complaints == []


def test_every_key_of_the_labels_gives_its_label(review: Review, visit: Any) -> None:
    bench = review([row(0, "turn")])
    seen = visit(bench.address)
    for key, label in zip("1234567890-", LABELS, strict=True):
        seen.page.keyboard.press(key)
        seen.page.locator(f"[aria-pressed=true][value={label}]").wait_for()
        assert seen.page.locator("[aria-pressed=true]").count() == 1
    for key in ("Control+g", "Alt+n", "x", "F5"):
        seen.page.keyboard.press(key)
    seen.page.wait_for_load_state()
    assert decided(bench) == {1: ("other", None)}


def test_a_killed_bench_loses_nothing_and_the_page_does_not_move_on(review: Review, visit: Any) -> None:
    bench = review([row(n, f"turn {n}") for n in range(3)])
    seen = visit(bench.address)
    seen.page.keyboard.press("n")
    with seen.page.expect_navigation():
        seen.page.keyboard.press("8")
    at(seen, 1)
    assert "is always genuine" in seen.page.get_by_role("alert").inner_text()
    with seen.page.expect_navigation():
        seen.page.keyboard.press("7")
    seen.page.locator("[aria-pressed=true][value=new_task_prompt]").wait_for()
    seen.page.keyboard.press("j")
    at(seen, 2)
    seen.page.keyboard.press("g")
    seen.page.get_by_text("one of the two decisions is still open").wait_for()
    os.kill(bench.process.pid, signal.SIGKILL)
    bench.process.wait()
    seen.page.keyboard.press("9")
    seen.page.get_by_text("Not saved").wait_for()
    assert seen.page.url.endswith("/by/Ada/2")
    assert seen.page.locator("[aria-pressed=true]").evaluate_all("(all) => all.map((e) => e.value)") == ["yes"]
    assert decided(bench) == {1: ("new_task_prompt", False), 2: (None, True)}
    again = visit(review().address)
    at(again, 2)
    assert again.page.locator("[aria-pressed=true]").get_attribute("value") == "yes"
    again.page.keyboard.press("9")
    at(again, 3)
    assert decided(bench)[2] == ("genuine_followup", True)


def test_keys_that_come_too_fast_are_not_put_on_another_decision(review: Review, visit: Any) -> None:
    bench = review([row(n, f"turn {n}") for n in range(3)])
    seen = visit(bench.address)
    seen.page.evaluate(
        """for (const key of ["9", "g", "1", "n"])
             document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))"""
    )
    at(seen, 2)
    assert decided(bench) == {1: ("genuine_followup", True)}


def test_going_on_waits_until_a_decision_is_saved(review: Review, visit: Any) -> None:
    bench = review([row(n, f"turn {n}") for n in range(3)])
    seen = visit(bench.address)
    os.kill(bench.process.pid, signal.SIGSTOP)
    seen.page.keyboard.press("9")
    seen.page.keyboard.press("j")
    assert seen.page.evaluate("leaving") is False and seen.page.url.endswith("/by/Ada/1")
    os.kill(bench.process.pid, signal.SIGCONT)
    at(seen, 2)
    assert decided(bench) == {1: ("genuine_followup", None)}


def test_hostile_text_stays_text_and_nothing_leaves_the_bench(review: Review, visit: Any) -> None:
    bench = review([row(n, text, *(f"{n}{text}", text, text, text)) for n, text in enumerate(HOSTILE)])
    seen = visit(bench.address)
    shown = set()
    for place in range(1, len(HOSTILE) + 1):
        at(seen, place)
        texts = seen.page.locator(".text").all_inner_texts()
        assert texts[1:] == [texts[4]] * 4 and texts[0][1:] == texts[4]
        shown.add(texts[4])
        assert seen.page.locator("article script, article a, article img, article iframe, article svg").count() == 0
        seen.page.keyboard.press("j")
    assert shown == set(HOSTILE)
    at(seen, "done")
    assert seen.page.evaluate("window.ran") is None
    root = bench.address.split("by/")[0]
    assert [url for url in seen.requests if not url.startswith((root, "data:"))] == []
    assert seen.dialogs == [] and seen.complaints == []


def test_the_page_refuses_scripts_requests_and_markup_made_of_text(review: Review, visit: Any) -> None:
    seen = visit(review([row(0, "turn")]).address)
    refused = seen.page.evaluate(
        """async () => {
          const refused = [];
          try { document.body.innerHTML = "<b>x</b>"; } catch { refused.push("markup"); }
          const script = document.createElement("script");
          script.append("window.ran = 1");
          document.body.append(script);
          await fetch("http://127.0.0.1:9/").catch(() => refused.push("fetch"));
          const form = document.createElement("form");
          form.action = "http://127.0.0.1:9/";
          form.method = "post";
          document.body.append(form);
          await new Promise((done) => {
            document.addEventListener("securitypolicyviolation", (event) => {
              if (event.effectiveDirective === "form-action") { refused.push("form"); done(); }
            });
            HTMLFormElement.prototype.submit.call(form);
          });
          return refused;
        }"""
    )
    assert refused == ["markup", "fetch", "form"] and seen.page.evaluate("window.ran") is None


def test_another_page_can_neither_read_nor_decide(review: Review, visit: Any, tmp_path: Path) -> None:
    bench = review([row(0, "turn")])
    other = tmp_path / "other.html"
    other.write_text("<!DOCTYPE html><title>elsewhere</title>")
    seen = visit(other)
    read = seen.page.evaluate(
        """async (address) => {
          const body = new URLSearchParams({ genuine: "yes" });
          await fetch(address + "1", { method: "POST", body, mode: "no-cors" }).catch(() => null);
          return fetch(address + "1").then((answer) => answer.text()).catch(() => "refused");
        }""",
        bench.address,
    )
    assert read == "refused" and decided(bench) == {}


def test_what_is_hidden_is_nowhere(review: Review, visit: Any) -> None:
    bench = review([row(n, f"turn {n}") for n in range(2)])
    seen = visit(bench.address)
    everything = []
    for place in (1, 2):
        at(seen, place)
        everything.append(seen.page.content())
        assert seen.page.locator("[aria-pressed=true]").count() == 0, "no judge's choice is marked"
        seen.page.keyboard.press("j")
    at(seen, "done")
    everything += [seen.page.content(), *seen.requests]
    for hidden in ("tiny", "0123", "pocket", "local-7", "temperature", "0.5"):
        assert not any(hidden in text for text in everything), hidden


def test_unseen_characters_are_in_boxes_and_long_text_scrolls_in_its_own(review: Review, visit: Any) -> None:
    rows = [row(0, "safe\u202egnp.exe\u202c \x1b[31m \x00 \u200b\u200b \ud800 end"), row(1, "x" * 9_000)]
    rows.append(row(2, "word " * 9_000, "query 2", "long " * 9_000))
    seen = visit(review(rows).address)
    for place in (1, 2, 3):
        at(seen, place)
        turn = seen.page.locator(".turn .text")
        if seen.page.get_by_text("query 0").count():
            boxes = ["U+202E", "U+202C", "U+001B", "U+0000", "U+200B \u00d72", "U+D800"]
            assert turn.locator(".unseen").all_inner_texts() == boxes
            assert "\u202e" not in turn.inner_text()
        else:
            assert turn.evaluate("(text) => text.scrollHeight > text.clientHeight && text.clientHeight < 400")
            turn.focus()
            seen.page.keyboard.press("End")
            while turn.evaluate("(text) => text.scrollTop") == 0:
                seen.page.wait_for_timeout(20)
        seen.page.keyboard.press("j")
    at(seen, "done")


@pytest.mark.parametrize("width", [320, 400, 1280])
def test_nothing_is_wider_than_the_window(review: Review, visit: Any, width: int) -> None:
    long = "x" * 3_000
    seen = visit(review([row(0, long, *[long] * 4)]).address, width=width)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    seen.page.goto(seen.page.url.rsplit("/", 1)[0] + "/done")
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_everything_to_decide_is_in_view_at_once(review: Review, visit: Any) -> None:
    turns = (STARTER, REVIVE * 3, STARTER, REVIVE * 3)
    seen = visit(review([row(0, "Why six hours?", *turns)]).address, width=1280, height=800)
    for part in [*seen.page.locator("aside button, aside .button").all(), seen.page.locator(".turn .text")]:
        box = part.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 800, part.inner_text()
    overlapped = seen.page.evaluate(
        """[...document.querySelectorAll("aside button, aside .button")].filter((button) => {
          const box = button.getBoundingClientRect();
          return !button.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
        }).length"""
    )
    assert overlapped == 0


def test_it_works_without_javascript(review: Review, visit: Any) -> None:
    bench = review([row(n, f"turn {n}") for n in range(2)])
    seen = visit(bench.address, java_script_enabled=False)
    seen.page.get_by_role("button", name="Not genuine").click()
    seen.page.locator("button[value=other]").click()
    at(seen, 2)
    assert decided(bench) == {1: ("other", False)}
    with ReviewStore(bench.store) as store:
        assert store.decisions("Ada")[1] == Decision("other", False, None), "an unknown time is none"


def test_who_cannot_see_is_told_the_same(review: Review, visit: Any) -> None:
    seen = visit(review([row(0, "turn text")]).address)
    assert "turn text" in seen.page.get_by_role("region", name="User turn").inner_text()
    for name in ("Genuine", "Not genuine"):
        assert seen.page.get_by_role("button", name=name, exact=True, pressed=False).is_visible()
    groups = seen.page.get_by_role("group").evaluate_all("(all) => all.map((e) => e.localName)")
    assert groups.count("fieldset") == 2
    assert seen.page.get_by_role("progressbar", name="decided").count() == 1
    assert seen.page.locator("html").get_attribute("lang") == "en"
    seen.page.keyboard.press("Tab")
    assert seen.focused("textContent") == "Skip to the decision"
    seen.page.keyboard.press("g")
    seen.page.get_by_role("status").get_by_text("one of the two decisions is still open").wait_for()
    assert seen.page.get_by_role("button", name="Genuine", exact=True, pressed=True).count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_background(review: Review, visit: Any, scheme: str) -> None:
    """At least 4.5 to 1, as WCAG 2.2 asks of small text."""
    seen = visit(review([row(0, "turn")]).address, color_scheme=scheme)
    pairs = [(text, ground) for text in ("ink", "soft", "accent", "bad") for ground in ("paper", "raised", "turn")]
    pairs += [("bad", "bad-back"), ("accent-ink", "accent"), ("ink", "unseen")]
    for text, ground in pairs:
        light, dark = sorted((luminance(seen, text), luminance(seen, ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{text} on {ground}"
    assert (luminance(seen, "paper") < 0.1) is (scheme == "dark")


def luminance(seen: Any, name: str) -> float:
    """Relative luminance of a colour of the style sheet, in [0, 1]; https://www.w3.org/TR/WCAG22/#dfn-relative-luminance"""
    value = seen.page.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('--{name}')").strip()
    channels = [int(value[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_screenshots_are_small(review: Review, visit: Any, tmp_path: Path) -> None:
    folder = Path(os.environ.get("USERTURN_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    herbs = ("Hi! Can you help me plan a herb bed?", "Gladly. How much sun does the place get?")
    debris = "safe\u202egnp.exe\u202c \x1b[31m <b>Thyme</b> \u200b\u200b\u200b https://example.org/x\n\n<|end|>"
    asked = (
        "Mine doubles after nine hours, not six. Can I bake with it anyway, or should I go on feeding it twice a day?"
    )
    bench = review(
        [
            row(0, asked, STARTER, REVIVE),
            row(1, debris, *herbs, "About four hours, mostly in the morning.", "Then leave rosemary and sage out."),
            *(row(n, f"turn {n}") for n in range(2, 12)),
        ]
    )
    with ReviewStore(bench.store) as store:
        place_of = {item.dialogue.messages[0].text: place for place, item in store.items()}
        for place in range(1, 13):
            if place not in (place_of[STARTER], place_of[herbs[0]]) and place % 2:
                store.record("Ada", place, genuine=False, seconds=4)
                store.record("Ada", place, label="other", seconds=8)
        store.record("Ada", place_of[STARTER], label="genuine_followup", seconds=5)
    root = bench.address.rsplit("/", 1)[0]
    for name, query, scheme, width, height in (
        ("light", STARTER, "light", 1280, 800),
        ("dark", herbs[0], "dark", 1280, 800),
        ("narrow", STARTER, "light", 400, 860),
    ):
        seen = visit(f"{root}/{place_of[query]}", width=width, height=height, color_scheme=scheme)
        path = folder / f"{name}.png"
        seen.page.screenshot(path=path, full_page=width < 1000)
        assert 5_000 < path.stat().st_size < 200_000 and path.read_bytes().startswith(b"\x89PNG")
