"""The guard: no token, no page; no decision from elsewhere; the same headers on every answer."""

from __future__ import annotations

from typing import Any

import pytest

from eval.review_bench.app import make_app
from eval.review_bench.guard import HEADERS
from eval.review_bench.store import ReviewStore

OWN = "http://127.0.0.1:8000"


def ask(store: ReviewStore, method: str, path: str, **headers: str) -> Any:
    testclient = pytest.importorskip("starlette.testclient", reason="no starlette; run `make setup`")
    client = testclient.TestClient(make_app(store, "token"), OWN, follow_redirects=False)
    answer = client.request(method, path, headers=headers, data={"genuine": "yes"} if method == "POST" else None)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    return answer


def test_the_token_opens(store: ReviewStore) -> None:
    assert ask(store, "GET", "/token/").status_code == 200
    assert ask(store, "GET", "/token/by/Ada/1").status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/by/Ada/1", "/Token/by/Ada/1", "/tokenx/", "/tok/", "//token/", "/static/review.js"]
)
def test_without_the_token_there_is_nothing(store: ReviewStore, path: str) -> None:
    answer = ask(store, "GET", path)
    assert answer.status_code == 404 and "token" not in answer.text
    assert ask(store, "POST", path, Origin=OWN).status_code == 404 and store.annotators() == []


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:8001", "https://127.0.0.1:8000", None]
)
def test_a_form_of_another_origin_decides_nothing(store: ReviewStore, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    assert ask(store, "POST", "/token/by/Ada/1", **headers).status_code == 403 and store.annotators() == []
    assert ask(store, "POST", "/token/by/Ada/1", Origin=OWN).status_code == 303 and store.annotators() == ["Ada"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "10.0.0.1:8000"])
def test_another_host_name_is_refused(store: ReviewStore, host: str) -> None:
    assert ask(store, "GET", "/token/by/Ada/1", Host=host).status_code == 400
    answer = ask(store, "POST", "/token/by/Ada/1", Host=host, Origin=f"http://{host}")
    assert answer.status_code == 400 and store.annotators() == []


def test_a_forwarded_port_is_no_other_host(store: ReviewStore) -> None:
    answer = ask(store, "POST", "/token/by/Ada/1", Host="localhost:9999", Origin="http://localhost:9999")
    assert answer.status_code == 303 and store.annotators() == ["Ada"]


def test_the_policy_leaves_a_page_nothing_but_its_own_files() -> None:
    policy = dict(part.strip().split(" ", 1) for part in HEADERS["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src", "form-action")} == {"'self'"}
    assert "unsafe" not in HEADERS["Content-Security-Policy"] and policy["trusted-types"] == "'none'"
