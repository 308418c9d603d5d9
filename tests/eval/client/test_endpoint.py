from __future__ import annotations

import pytest

from eval.client.endpoint import OPENAI, endpoint_for
from eval.config import ConfigError


def test_openai_is_left_unnamed_and_any_other_server_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", " secret\n")
    at_openai = endpoint_for("m-2026-01-01", "HTTPS://api.OpenAI.com:443/v1/", "A_KEY", whose="judge")
    assert (at_openai.server, at_openai.api_key) == (None, "secret") and "secret" not in repr(at_openai)
    elsewhere = endpoint_for("m", "http://h:8000/v1", None, whose="judge")
    assert (elsewhere.server, elsewhere.base_url) == ("h:8000/v1", "http://h:8000/v1")


@pytest.mark.parametrize(
    ("model", "base_url", "variable", "message"),
    [
        ("gpt-5.4", OPENAI, None, r"teacher\.model 'gpt-5\.4' has no date.*gpt-5\.4-YYYY-MM-DD"),
        ("m", "h:8000", None, r"teacher\.base_url 'h:8000'.*http://HOST:PORT/v1"),
        ("m", "http://h/v1", "NO_SUCH_KEY", "NO_SUCH_KEY is not set.*or choose another teacher"),
        ("m", "http://h/v1", "sk-123", r"teacher\.api_key_variable is the name of an environment variable"),
    ],
)
def test_what_cannot_work_names_its_setting(
    model: str, base_url: str, variable: str | None, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(ConfigError, match=message) as problem:
        endpoint_for(model, base_url, variable, whose="teacher")
    assert "sk-123" not in str(problem.value)
