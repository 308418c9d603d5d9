"""The report in a real Chromium: hostile text stays text, nothing leaves the file, keys and filters work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.finished_runs import read_runs
from eval.report_page.dialogues import Limits
from eval.report_page.page import write_page

pytestmark = pytest.mark.browser

HOSTILE = (
    "</script><script>window.ran = 1</script>",
    "<script>window.ran = 2</script><img src=x onerror='window.ran = 3'>",
    "<img src=http://127.0.0.1:9/leak.png><iframe src=http://127.0.0.1:9/></iframe><link rel=prefetch href=//a.b>",
    "<svg onload=alert(4)><a href='javascript:window.ran = 5'>x</a><form action=http://127.0.0.1:9><input autofocus>",
    "<style>* { display: none !important }</style><base href=http://127.0.0.1:9/><meta http-equiv=refresh content=0>",
    "<!--<script> ${window.ran = 6} {{ window.ran }} javascript:alert(7) &lt;b&gt; \" ' `",
)
UNSEEN = "safe\u202egnp.exe\u202c \u2066iso\u2069 \x1b[31mred \x00 \x9b \u200b \ufeff \U000e0041 \ud800 end"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
MakeReport = Callable[..., Path]


def row(
    number: int, turn: str = "Why?", label: str = "new_task_prompt", genuine: bool = False, **fields: Any
) -> Dialogue:
    """A finished row; its query holds its number."""
    loaded = Dialogue(fields.pop("task", "gsm8k"), (Message("user", fields.pop("query", f"query {number}")),))
    model = fields.pop("model", "tiny@0123")
    answer = Message("assistant", fields.pop("answer", f"answer {number}"), fields.pop("by", model), "stop", 3)
    spoken = loaded.says(answer).says(Message("user", turn, model, "stop", 2))
    judgement = None if "failure" in fields else Judgement(label, genuine, "local-1", fields.pop("reply", ""))
    return Dialogue(loaded.task, spoken.messages, judgement=judgement, id=loaded.id, **fields)


def test_hostile_text_stays_text_and_nothing_leaves_the_file(make_report: MakeReport, visit: Any) -> None:
    rows = [
        row(n, text, label=text, query=f"{n} {text}", answer=text, reply=text, task=text)
        for n, text in enumerate(HOSTILE)
    ]
    failed = row(99, failure=Failure("judge", HOSTILE[0], HOSTILE[1]))
    path = make_report([*rows, failed], model=f"{HOSTILE[0]}@0")
    seen = visit(path)
    openers = seen.page.locator(".opener")
    assert openers.count() == len(HOSTILE) + 1
    for place in range(openers.count()):
        openers.nth(place).click()
    for fold in seen.page.locator("#list summary").all():
        fold.click()
    texts = seen.page.locator(".message.turn .text").all_inner_texts()
    assert texts[: len(HOSTILE)] == list(HOSTILE)
    assert set(HOSTILE) <= set(seen.page.locator(".verdict .text").all_inner_texts())
    made = seen.page.evaluate("[...document.querySelectorAll('#list *')].map((e) => e.localName)")
    assert set(made) <= {"li", "button", "span", "div", "p", "section", "strong", "br", "details", "summary", "em"}
    seen.page.wait_for_timeout(300)
    assert seen.page.evaluate("window.ran") is None
    assert seen.page.url == path.as_uri() and seen.page.locator(".opened").first.is_visible()
    assert [url for url in seen.requests if not url.startswith("data:image/svg+xml")] == [path.as_uri()]
    assert seen.dialogs == [] and seen.complaints == []


def test_the_page_refuses_scripts_requests_and_markup_made_of_text(make_report: MakeReport, visit: Any) -> None:
    seen = visit(make_report([row(1)]))
    refused = seen.page.evaluate(
        """async () => {
          const script = document.createElement("script");
          const tries = {
            markup: () => { document.body.innerHTML = "<b>x</b>"; },
            source: () => { script.text = "window.ran = 1"; },
          };
          const refused = [];
          for (const [name, attempt] of Object.entries(tries)) {
            try { attempt(); } catch { refused.push(name); }
          }
          script.append("window.ran = 1");
          document.body.append(script);
          await fetch("http://127.0.0.1:9/").catch(() => refused.push("fetch"));
          const image = new Image();
          await new Promise((done) => {
            document.addEventListener("securitypolicyviolation", (event) => {
              if (event.effectiveDirective === "img-src") { refused.push("image"); done(); }
            });
            image.src = "http://127.0.0.1:9/x.png";
          });
          return refused;
        }"""
    )
    assert refused == ["markup", "source", "fetch", "image"]
    assert seen.page.evaluate("window.ran") is None


def test_what_is_not_seen_is_shown_in_boxes(make_report: MakeReport, visit: Any) -> None:
    seen = visit(make_report([row(1, f"{UNSEEN} {FAMILY} \u05e9\u05dc\u05d5\u05dd")]))
    seen.page.locator(".opener").click()
    turn = seen.page.locator(".message.turn .text")
    assert turn.locator(".control").all_inner_texts() == [
        *("U+202E", "U+202C", "U+2066", "U+2069", "U+001B", "U+0000", "U+009B", "U+200B", "U+FEFF", "U+E0041", "U+D800")
    ]
    shown = turn.evaluate("(text) => text.textContent")
    assert "\u202e" not in shown and "safeU+202Egnp.exe" in shown
    assert FAMILY in shown and "\u05e9\u05dc\u05d5\u05dd" in shown


def test_everything_can_be_done_with_the_keyboard(make_report: MakeReport, visit: Any) -> None:
    rows = [
        row(n, "Is it?" if n % 4 else "A horse?", ("other", "generic_followup")[n % 2], n % 2 == 1) for n in range(12)
    ]
    seen = visit(make_report(rows))
    keyboard = seen.page.keyboard
    assert seen.count == "12 of 12 dialogues"
    keyboard.press("/")
    assert seen.focused("name") == "words"
    keyboard.type("HORSE")
    assert seen.count == "3 of 12 dialogues"
    for _ in range(3):
        keyboard.press("Tab")
    assert seen.focused("name") == "genuine"
    keyboard.press("y")
    assert seen.count == "0 of 12 dialogues"
    keyboard.press("ArrowDown")
    assert seen.count == "3 of 12 dialogues"
    for _ in range(3):
        keyboard.press("Tab")
    assert seen.focused("className") == "opener"
    keyboard.press("Enter")
    assert seen.page.locator(".opened").count() == 1 and seen.focused("ariaExpanded") == "true"
    assert seen.page.locator("mark").first.inner_text() == "horse"
    keyboard.press("j")
    keyboard.press("ArrowDown")
    keyboard.press("k")
    keyboard.press("ArrowUp")
    keyboard.press("Escape")
    assert seen.page.locator(".opened").count() == 0 and seen.focused("ariaExpanded") == "false"
    assert seen.complaints == []


@pytest.mark.parametrize(
    ("name", "value", "numbers"),
    [
        ("task", "ifbench", [3]),
        ("label", "generic_followup", [1]),
        ("genuine", "yes", [1]),
        ("genuine", "unjudged", [2]),
        ("state", "judge_error", [2]),
        ("correct", "right", [0]),
        ("correct", "ungraded", [2, 3]),
    ],
)
def test_every_filter_leaves_the_rows_it_names(
    make_report: MakeReport, visit: Any, name: str, value: str, numbers: list[int]
) -> None:
    rows = [
        row(0, correct=True),
        row(1, label="generic_followup", genuine=True, correct=False),
        row(2, failure=Failure("judge", "timeout", "after 60 s")),
        row(3, task="ifbench"),
    ]
    seen = visit(make_report(rows))
    seen.page.locator(f"select[name={name}]").select_option(value)
    abouts = seen.page.locator(".about").all_inner_texts()
    assert [int(about.rsplit(" ", 1)[1]) for about in abouts] == numbers
    assert seen.count == f"{len(numbers)} of 4 dialogues"


def test_runs_stand_side_by_side_on_the_same_dialogue(make_report: MakeReport, visit: Any) -> None:
    greedy = [row(n, f"greedy {n}") for n in range(3)]
    warm = [
        row(0, "warm 0", "generic_followup", True),
        row(1, "warm 1"),
        row(2, failure=Failure("judge", "refusal", "no")),
    ]
    seen = visit(make_report(greedy, warm))
    assert seen.page.locator(".dialogue").count() == 3
    seen.page.locator(".opener").first.click()
    columns = seen.page.locator(".run")
    boxes = [columns.nth(place).bounding_box() for place in (0, 1)]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] and boxes[0]["y"] == boxes[1]["y"]
    assert seen.page.locator(".message.turn .text").all_inner_texts() == ["greedy 0", "warm 0"]
    assert seen.page.locator(".opened > .message .text").all_inner_texts() == ["query 0", "answer 0"]
    seen.page.get_by_label("only where these runs differ").press("Space")
    assert seen.count == "2 of 3 dialogues"
    seen.page.get_by_label("T=0.5").press("Space")
    assert seen.count == "0 of 3 dialogues"
    seen.page.get_by_label("only where these runs differ").press("Space")
    seen.page.locator(".opener").nth(2).click()
    assert seen.page.locator(".message.turn .text").all_inner_texts() == ["greedy 2"]


def of_model(name: str, genuine: set[int], right: set[int] = frozenset()) -> list[Dialogue]:
    """Three rows on the model's own answers, and three on the data's."""
    label = {True: "genuine_followup", False: "new_task_prompt"}
    own = [
        row(n, f"{name} {n}", label[n in genuine], n in genuine, model=f"model@{name}", answer=f"{name} answers {n}")
        for n in range(3)
    ]
    held_out = [
        row(n, f"{name} {n}", label[n in genuine], n in genuine, model=f"model@{name}", by="data", task="coval")
        for n in range(3, 6)
    ]
    return [*(replace(one, correct=number in right) for number, one in enumerate(own)), *held_out]


def test_base_sft_and_rl_stand_side_by_side_on_the_same_context(report_models: MakeReport, visit: Any) -> None:
    path = report_models(Base=of_model("Base", {0}), SFT=of_model("SFT", {0, 1, 4}), RL=of_model("RL", {4})[::-1])
    seen = visit(path)
    assert seen.count == "6 of 6 dialogues"
    for opener in (0, 4):
        seen.page.locator(".opener").nth(opener).click()
    own, held_out = seen.page.locator(".opened").all()
    for dialogue, number in ((own, 0), (held_out, 4)):
        columns = dialogue.locator(".run").all()
        assert [column.locator(".run-name").inner_text() for column in columns] == ["ABase", "BSFT", "CRL"]
        boxes = [column.bounding_box() for column in columns]
        assert all(left["x"] + left["width"] <= right["x"] for left, right in pairwise(boxes))
        tops = {box["y"] for turn in dialogue.locator(".message.turn").all() for box in [turn.bounding_box()]}
        assert len(tops) == 1, "the user turns begin at one height"
        turns = dialogue.locator(".message.turn .text").all_inner_texts()
        assert turns == [f"Base {number}", f"SFT {number}", f"RL {number}"], "aligned by their row, not by their place"
        assert dialogue.locator(":scope > .message").first.locator(".text").inner_text() == f"query {number}"
    assert own.locator(".run .answer .text").all_inner_texts() == [
        f"{name} answers 0" for name in ("Base", "SFT", "RL")
    ]
    assert held_out.locator(".answer").count() == 1, "one answer of the data, once"
    assert held_out.locator(":scope > .answer .text").inner_text() == "answer 4"
    assert "the same in these runs" in held_out.locator(":scope > .answer .by").inner_text()
    assert seen.complaints == []


@pytest.mark.parametrize(
    ("turned", "numbers"),
    [
        ("follow-up gained", [1, 4]),
        ("follow-up lost", [5]),
        ("answer became right", [2]),
        ("answer became wrong", [1]),
        ("", [0, 1, 2, 3, 4, 5]),
    ],
)
def test_what_turned_against_the_first_run_is_found(
    report_models: MakeReport, visit: Any, turned: str, numbers: list[int]
) -> None:
    base, sft = of_model("Base", {0, 5}, right={0, 1}), of_model("SFT", {0, 1, 5}, right={0, 2})
    seen = visit(report_models(Base=base, SFT=sft, RL=of_model("RL", {0, 4}, right={0, 1})))
    seen.page.locator("select[name=turned]").select_option(turned)
    abouts = seen.page.locator(".about").all_inner_texts()
    assert [int(about.rsplit(" ", 1)[1]) for about in abouts] == numbers


def test_the_models_have_a_table_whose_numbers_lead_to_their_rows(report_models: MakeReport, visit: Any) -> None:
    path = report_models(Base=of_model("Base", {0}), SFT=of_model("SFT", {0, 1, 4}))
    seen = visit(path)
    models = seen.page.locator("#models")
    assert "Table 2: models side by side" in models.inner_text() and "no paper value" in models.inner_text()
    led = models.get_by_role("link").evaluate_all("(links) => links.map((link) => link.href)")
    assert set(led) == {
        (path.parent.parent / name / file).as_uri()
        for name in ("Base", "SFT")
        for file in ("rows.jsonl", "manifest.json")
    }
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1200


def test_long_lists_come_in_parts_and_long_texts_scroll(make_report: MakeReport, visit: Any) -> None:
    rows = [row(n, "word " * 9_000 if n == 0 else "x" * 9_000) for n in range(230)]
    seen = visit(make_report(rows))
    assert seen.page.locator(".dialogue").count() == 100
    more = seen.page.locator("#more")
    more.press("Enter")
    assert seen.page.locator(".dialogue").count() == 200
    assert seen.page.evaluate("[...document.querySelectorAll('.opener')].indexOf(document.activeElement)") == 100
    more.press("Enter")
    assert seen.page.locator(".dialogue").count() == 230 and not more.is_visible()
    seen.page.locator(".opener").first.click()
    text = seen.page.locator(".message.turn .text")
    assert text.bounding_box()["height"] < 500 and text.get_attribute("tabindex") == "0"


@pytest.mark.parametrize("width", [320, 390, 1200])
def test_nothing_is_wider_than_the_window(make_report: MakeReport, visit: Any, width: int) -> None:
    long = "x" * 3_000
    rows = [row(1, long, label=long, query=long, answer=long), row(2, failure=Failure("judge", long, long))]
    seen = visit(make_report(rows, rows, model=f"{long}@0"), width=width)
    for opener in seen.page.locator(".opener").all():
        opener.click()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_javascript_the_tables_still_read(make_report: MakeReport, visit: Any) -> None:
    rows = [row(n, genuine=n < 1) for n in range(10)]
    seen = visit(make_report(rows), java_script_enabled=False)
    results = seen.page.locator("#results").inner_text()
    assert "10.0" in results and "[1.8, 40.4]" in results
    assert (
        seen.page.locator("#filters").is_hidden()
        and seen.page.get_by_text("Browsing the dialogues needs JavaScript").is_visible()
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_background(make_report: MakeReport, visit: Any, scheme: str) -> None:
    """At least 4.5 to 1, as WCAG 2.2 asks of small text."""
    seen = visit(make_report([row(1, failure=Failure("judge", "refusal", "no"))]), color_scheme=scheme)
    seen.page.locator(".opener").click()
    names = ("paper", "raised", "faint", "turn", "bad-back")
    colours = {name: luminance(seen, name) for name in (*names, "ink", "soft", "accent", "bad", "good")}
    for ground in names:
        for text in ("ink", "soft", "accent", "bad", "good"):
            light, dark = sorted((colours[ground], colours[text]), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{text} on {ground}"
    assert (colours["paper"] < 0.1) is (scheme == "dark")


def luminance(seen: Any, name: str) -> float:
    """Relative luminance of a colour of the style sheet, in [0, 1]; https://www.w3.org/TR/WCAG22/#dfn-relative-luminance"""
    value = seen.page.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('--{name}')").strip()
    channels = [int(value[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_beyond_the_bound_the_dialogues_follow_in_parts_that_lead_to_each_other(
    make_report: MakeReport, visit: Any
) -> None:
    rows = [row(n, HOSTILE[n % len(HOSTILE)]) for n in range(40)]
    path = make_report(rows)
    found = write_page(read_runs([path.parent]), path, limits=Limits(rows=15))
    assert len(found.parts) == 3
    seen = visit(path)
    shown: list[str] = []
    for number, part in enumerate(found.parts, start=1):
        assert seen.count == f"{part.dialogues} of {part.dialogues} dialogues in this part"
        shown += seen.page.locator(".about").all_inner_texts()
        seen.page.locator(".opener").first.press("Enter")
        assert seen.page.locator(".message.turn .text").inner_text() in HOSTILE
        if number < 3:
            seen.page.get_by_role("link", name=f"Part {number + 1}").press("Enter")
            seen.page.wait_for_url(f"**/report_parts/{number + 1}.html")
    assert len(set(shown)) == 40, "each dialogue is in one part"
    seen.page.get_by_role("link", name="Tables, figures and settings").click()
    assert seen.page.url == path.as_uri() and seen.page.locator("#results").is_visible()
    assert seen.page.evaluate("window.ran") is None and seen.dialogs == [] and seen.complaints == []
    assert {url for url in seen.requests if url.startswith("file:")} == {
        path.as_uri(),
        *((path.parent / "report_parts" / f"{number}.html").as_uri() for number in (2, 3)),
    }
