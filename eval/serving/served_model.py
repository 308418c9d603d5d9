"""What a completions server says about itself: which models it has, and how much context each takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eval.config import ConfigError

ANSWER_S = 30.0
"""Seconds that a server may take to say what it has."""


@dataclass(frozen=True)
class ServedModel:
    """One model of a server."""

    name: str
    max_context: int | None
    """Tokens of prompt and completion; None where the server doesn't say."""


def served_model(base_url: str, api_key: str, name: str | None) -> ServedModel:
    """The model `name` of a server, or the only one that it has.

    Raises:
        ConfigError: there is no such server or model, or there are several to choose from.
    """
    models = {model["id"]: model.get("max_model_len") for model in _listed(base_url, api_key)}
    if name is None and len(models) != 1:
        raise ConfigError(f"{base_url} serves {', '.join(models) or 'no model'}; name one: --engine.served_model NAME")
    chosen = name or next(iter(models))
    if chosen not in models:
        raise ConfigError(f"engine.served_model: {base_url} has no {chosen!r}; it serves {', '.join(models)}")
    return ServedModel(chosen, models[chosen])


def _listed(base_url: str, api_key: str) -> list[dict[str, Any]]:
    import httpx2

    url = f"{base_url.rstrip('/')}/models"
    try:
        answer = httpx2.get(url, headers={"Authorization": f"Bearer {api_key}"}, timeout=ANSWER_S)
        answer.raise_for_status()
        models = answer.json()["data"]
        if not all(isinstance(model["id"], str) for model in models):
            raise TypeError("an id is no string")
    except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"no list of models at {url} ({type(error).__name__}: {error}); is the server up?") from error
    return list(models)
