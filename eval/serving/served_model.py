"""Queries a completions server for the models it serves and their context lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eval.config import ConfigError

ANSWER_S = 30.0
"""Timeout of the request for the list of models, in seconds."""


@dataclass(frozen=True)
class ServedModel:
    """A model that a server offers."""

    name: str
    max_context: int | None
    """Maximum tokens of prompt and completion together; None if the server does not report it."""


def served_model(base_url: str, api_key: str, name: str | None) -> ServedModel:
    """The model `name` of a server, or its only model if `name` is None.

    Raises:
        ConfigError: the server cannot be reached, does not serve the model, or serves several and `name` is None.
    """
    models = {model["id"]: model.get("max_model_len") for model in _list_models(base_url, api_key)}
    if name is None and len(models) != 1:
        raise ConfigError(f"{base_url} serves {', '.join(models) or 'no model'}; name one: --engine.served_model NAME")
    chosen = name or next(iter(models))
    if chosen not in models:
        raise ConfigError(f"engine.served_model: {base_url} has no {chosen!r}; it serves {', '.join(models)}")
    return ServedModel(chosen, models[chosen])


def _list_models(base_url: str, api_key: str) -> list[dict[str, Any]]:
    import httpx2

    url = f"{base_url.rstrip('/')}/models"
    try:
        answer = httpx2.get(url, headers={"Authorization": f"Bearer {api_key}"}, timeout=ANSWER_S)
        answer.raise_for_status()
        models = answer.json()["data"]
        if not all(isinstance(model["id"], str) for model in models):
            raise TypeError("an id is not a string")
    except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"no list of models at {url} ({type(error).__name__}: {error}); is the server up?") from error
    return list(models)
