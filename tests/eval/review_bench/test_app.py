"""The application, asked as a browser would: decisions are saved, and lead on; nothing hidden is told."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from eval.review_bench.app import make_app, reviewer
from eval.review_bench.decision import Decision
from eval.review_bench.store import ReviewStore

ORIGIN = "http://127.0.0.1:8000"
TOKEN = "T0ken_-x"


@pytest.fixture
def browser(store: ReviewStore) -> Iterator[Any]:
    """A client that is inside the bench, and follows no redirect."""
    testclient = pytest.importorskip("starlette.testclient", reason="no starlette; run `make setup`")
    with testclient.TestClient(
        make_app(store, TOKEN), f"{ORIGIN}/{TOKEN}", follow_redirects=False, headers={"Origin": ORIGIN}
    ) as client:
        yield client


def led(answer: Any) -> str:
    assert answer.status_code == 303
    return str(answer.headers["location"].removeprefix(f"/{TOKEN}/"))


def test_a_reviewer_enters_and_comes_to_the_first_item_that_is_open(browser: Any, store: ReviewStore) -> None:
    assert "Your name" in browser.get("/").text
    assert led(browser.post("/", data={"name": "  Ada  Lovelace "})) == "by/Ada%20Lovelace/"
    assert led(browser.get("/by/Ada%20Lovelace/")) == "by/Ada%20Lovelace/1"
    store.record("Ada Lovelace", 1, label="other")
    assert led(browser.get("/by/Ada%20Lovelace/")) == "by/Ada%20Lovelace/1", "one decision is still open"
    store.record("Ada Lovelace", 1, genuine=False)
    assert led(browser.get("/by/Ada%20Lovelace/")) == "by/Ada%20Lovelace/2"
    assert "1 of 3" in browser.get("/").text


def test_a_decision_is_saved_and_the_second_one_leads_on(browser: Any, store: ReviewStore) -> None:
    assert led(browser.post("/by/Ada/1", data={"label": "other", "seconds": "1.5"})) == "by/Ada/1"
    assert store.decisions("Ada") == {1: Decision("other", None, 1.5)}
    assert led(browser.post("/by/Ada/1", data={"genuine": "no", "seconds": "2"})) == "by/Ada/2"
    assert store.decisions("Ada") == {1: Decision("other", False, 3.5)}
    assert led(browser.post("/by/Ada/1", data={"label": "meta_planning"})) == "by/Ada/1", "a change stays where it is"
    for genuine, label, there in (("yes", "generic_followup", "3"), ("yes", "genuine_followup", "done")):
        browser.post(f"/by/Ada/{2 if there == '3' else 3}", data={"genuine": genuine})
        assert led(browser.post(f"/by/Ada/{2 if there == '3' else 3}", data={"label": label})) == f"by/Ada/{there}"
    assert "All 3 decided" in browser.get("/by/Ada/done").text


def test_an_item_that_was_passed_over_comes_at_the_end(browser: Any, store: ReviewStore) -> None:
    for position in (2, 3):
        store.record("Ada", position, genuine=False)
    assert led(browser.post("/by/Ada/2", data={"label": "other"})) == "by/Ada/3"
    assert led(browser.post("/by/Ada/3", data={"label": "other"})) == "by/Ada/1"
    assert "1 are still open" in browser.get("/by/Ada/done").text


def test_a_contradiction_is_saved_and_stays_to_be_seen(browser: Any, store: ReviewStore) -> None:
    browser.post("/by/Ada/1", data={"genuine": "yes"})
    assert led(browser.post("/by/Ada/1", data={"label": "acknowledgement"})) == "by/Ada/1"
    assert store.decisions("Ada")[1] == Decision("acknowledgement", True) and "By its" in browser.get("/by/Ada/1").text


def test_undo_leads_to_the_item_whose_decision_it_took_back(browser: Any, store: ReviewStore) -> None:
    browser.post("/by/Ada/1", data={"genuine": "no"})
    browser.post("/by/Ada/1", data={"label": "other"})
    assert led(browser.post("/by/Ada/undo")) == "by/Ada/1" and store.decisions("Ada") == {1: Decision(None, False)}
    assert led(browser.post("/by/Ada/undo")) == "by/Ada/1" and store.decisions("Ada") == {}
    assert led(browser.post("/by/Ada/undo")) == "by/Ada/"


def test_reviewers_do_not_see_each_other(browser: Any) -> None:
    browser.post("/by/Ada/1", data={"genuine": "yes"})
    assert 'aria-pressed="true"' in browser.get("/by/Ada/1").text
    assert 'aria-pressed="true"' not in browser.get("/by/Ben/1").text


def test_what_is_hidden_is_on_no_page_and_in_no_address(browser: Any, store: ReviewStore) -> None:
    hidden = {"tiny", "0123", "pocket", "j0", "j1", "0.5", store.item(1).dialogue.id, "temperature"}
    seen = []
    for path in ("/by/Ada/1", "/by/Ada/2", "/by/Ada/3", "/by/Ada/done"):
        answer = browser.get(path)
        assert answer.status_code == 200
        seen += [answer.text, str(answer.url), str(answer.headers)]
    assert not [word for word in hidden if any(word in text for text in seen)]
    pressed = [page.count('aria-pressed="true"') for page in seen]
    assert not any(pressed), "no judge's label is chosen beforehand"


@pytest.mark.parametrize("fields", [{}, {"label": "nice"}, {"genuine": "maybe"}, {"label": "other", "genuine": "yes"}])
def test_what_is_no_decision_is_refused(browser: Any, store: ReviewStore, fields: dict[str, str]) -> None:
    assert browser.post("/by/Ada/1", data=fields).status_code == 422 and store.annotators() == []


@pytest.mark.parametrize("seconds", ["", "nan", "inf", "-1", "x", "1e999"])
def test_a_time_that_is_none_is_unknown(browser: Any, store: ReviewStore, seconds: str) -> None:
    browser.post("/by/Ada/1", data={"genuine": "yes", "seconds": seconds})
    assert store.decisions("Ada") == {1: Decision(None, True, None)}


def test_what_is_not_there_is_not_found(browser: Any) -> None:
    for path in ("/by/Ada/0", "/by/Ada/4", "/by/Ada/x", "/by/%20Ada/1", "/by/a%2Fb/1", "/static/", "/static/../app.py"):
        assert browser.get(path).status_code == 404, path
    assert browser.post("/by/Ada/4", data={"genuine": "yes"}).status_code == 404
    assert browser.get("/by/Ada/undo").status_code == 405
    assert browser.get("/static/review.js").status_code == browser.get("/static/review.css").status_code == 200


def test_names() -> None:
    assert reviewer("  Jos\u0065\u0301  O'Neil-M. ") == "Jos\u00e9 O'Neil-M."
    assert reviewer("李雷") == "李雷" and reviewer("a" * 40) == "a" * 40
    for wrong in ("", " ", ".", "..", "a/b", "<b>", "a" * 41, "\u202eabc", "a\u0000", "?x", "-a"):
        assert reviewer(wrong) is None, wrong


def test_a_name_that_is_none_is_asked_for_again(browser: Any) -> None:
    answer = browser.post("/", data={"name": "<script>"})
    assert (
        answer.status_code == 422 and "A name has" in answer.text and "<script>" not in answer.text.split("<body>")[1]
    )


def test_every_form_works_without_a_script(browser: Any) -> None:
    forms: list[dict[str, str | None]] = []

    class Forms(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "form":
                forms.append(dict(attrs))

    Forms().feed(browser.get("/by/Ada/2").text)
    assert [(form["method"], form["action"]) for form in forms] == [("post", "2"), ("post", "2"), ("post", "undo")]
