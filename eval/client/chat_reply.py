"""The outcome of a chat-completion request: a `Reply`, or the `Fault` because of which there is none.

Knows the protocol's response formats and error codes, but nothing about the content of requests.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from eval.config import ConfigError

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAIError

OUT_OF_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Error codes of an exhausted account: their status is 429, too, but waiting does not help. Messages are ignored, since
some servers use the same wording for a concurrency limit."""
SAME_FOR_ALL = frozenset(
    {"invalid_api_key", "model_not_found", "unsupported_parameter", "unsupported_value", "unknown_parameter"}
)
"""Error codes that every other request of the run would get as well."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one request, as the server counted them."""

    input: int
    output: int
    """Reasoning tokens included."""
    cached: int = 0
    """Those of `input` that the server had cached."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input + other.input, self.output + other.output, self.cached + other.cached)


@dataclass(frozen=True)
class Reply:
    """A complete response. Check `finish` before `text`: a truncated reply has text, too."""

    text: str | None
    finish: str | None
    refusal: str | None
    model: str | None
    """The model that replied, according to the server."""
    usage: Usage | None
    """None if the server did not report it."""


@dataclass(frozen=True)
class Fault:
    """Why there is no reply."""

    kind: str
    detail: str = ""
    transient: bool = False
    """Whether the same request may succeed later."""
    wait_s: float | None = None
    """Seconds that the server asks to wait."""
    billable: bool = False
    """Whether the server may have processed the request anyway."""


def reply_of(body: str | Mapping[str, Any]) -> Reply | Fault:
    """Parse the body of a successful response; anything unexpected is a `Fault`."""
    try:
        response = json.loads(body) if isinstance(body, str) else body
        choice = response["choices"][0]
        message = choice["message"]
        return Reply(
            text=_string(message.get("content")),
            finish=_string(choice.get("finish_reason")),
            refusal=_string(message.get("refusal")),
            model=_string(response.get("model")),
            usage=usage_of(response.get("usage")),
        )
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        detail = f"{type(error).__name__}: {error} in {str(body)[:200]!r}"
        return Fault("malformed_response", detail, transient=True, billable=True)


def fault_of(error: OpenAIError) -> Fault:
    """Classify an error of the SDK.

    Raises:
        ConfigError: every request of the run would get it.
    """
    from httpx2 import ConnectError, ConnectTimeout
    from openai import APIConnectionError, APIStatusError

    if isinstance(error, APIStatusError):
        return _fault_of_status(error)
    if isinstance(error, APIConnectionError):
        sent = not isinstance(error.__cause__, ConnectError | ConnectTimeout)
        return Fault("connection", f"{error} ({error.__cause__!r})", transient=True, billable=sent)
    return Fault("malformed_response", f"{type(error).__name__}: {error}", transient=True, billable=True)


def error_fault(status: int, error: Mapping[str, Any], wait_s: float | None = None) -> Fault:
    """Classify an error response by its status and its `error` object: `code` decides, never the wording.

    Raises:
        ConfigError: every request of the run would get it.
    """
    code, detail = error.get("code"), f"HTTP {status}: {str(error.get('message', error))[:500]}"
    if code in OUT_OF_QUOTA:
        raise ConfigError(f"the account is out of quota ({detail}); add credit or raise its limit, then run again")
    if status == 401:
        raise ConfigError("the server rejects the API key (HTTP 401); check the variable that holds it")
    if status == 404 or code in SAME_FOR_ALL:
        raise ConfigError(f"the server can't serve any such request ({detail}); check `model`, `base_url` and options")
    if status == 429:
        return Fault("rate_limited", detail, transient=True, wait_s=wait_s)
    if status >= 500:
        return Fault("server_error", detail, transient=True, wait_s=wait_s)
    return Fault("context_too_long" if code == "context_length_exceeded" else f"http_{status}", detail)


def _fault_of_status(error: APIStatusError) -> Fault:
    body = error.body if isinstance(error.body, Mapping) else {"message": error.message}
    return error_fault(error.status_code, body, _wait(error.response.headers))


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds of `Retry-After`, given as seconds or as a date; None if absent or unreadable."""
    text = headers.get("retry-after", "")
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _string(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where a string belongs")
    return value


def usage_of(usage: Any) -> Usage | None:
    """The `usage` object of a response; None if it is missing or malformed."""
    if not isinstance(usage, Mapping):
        return None
    given, made = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(given, int) or not isinstance(made, int) or given < 0 or made < 0:
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    return Usage(given, made, cached=min(max(cached, 0), given) if isinstance(cached, int) else 0)
