"""The server of a model and its API key, checked as far as possible without a request."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Literal

from eval.client.server_name import server_name
from eval.config import ConfigError

OPENAI = "https://api.openai.com/v1"
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
"""Which of these a model supports is up to the server."""


@dataclass(frozen=True)
class Endpoint:
    """A chat-completions server."""

    base_url: str
    api_key: str = field(repr=False)
    server: str | None
    """Its name, recorded with its results: a model name may mean another model there. None for OpenAI's."""


def endpoint_for(model: str, base_url: str, api_key_variable: str | None, *, whose: str) -> Endpoint:
    """The server of `model`.

    Args:
        api_key_variable: name of the environment variable that holds the key; None for a server without keys.
        whose: the part of the configuration that names it, such as "judge", for messages.

    Raises:
        ConfigError: the URL is not valid, the key is missing, or the model is OpenAI's and has no date.
    """
    server = server_name(base_url, f"{whose}.base_url")
    at_openai = server == server_name(OPENAI)
    if at_openai and not re.search(r"-\d{4}-\d{2}-\d{2}$", model):
        raise ConfigError(f"{whose}.model {model!r} has no date, so it may change; write {model}-YYYY-MM-DD")
    return Endpoint(base_url, _api_key(api_key_variable, whose), None if at_openai else server)


def _api_key(variable: str | None, whose: str) -> str:
    if variable is None:
        return "none"
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable):
        raise ConfigError(f"{whose}.api_key_variable is the name of an environment variable, such as OPENAI_API_KEY")
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ConfigError(f"{variable} is not set: export {variable}=<your key>, or choose another {whose}")
    return key
