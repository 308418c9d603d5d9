"""The outcome of a completions request with a prompt of token ids: the generated ids, or a `Fault`.

Servers return ids in one of two places: `token_ids` of a choice (vLLM's `return_token_ids`), or the tokens of its
`logprobs`, written "token_id:17" (`return_tokens_as_token_ids`). Text is ignored: it may lack control tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.client.chat_reply import Fault, Usage, usage_of

MARK = "token_id:"
NO_IDS = "no_token_ids"
"""Kind of the fault if a server does not return ids."""


class NoIds(Exception):
    """A choice is complete but has no ids."""


@dataclass(frozen=True)
class TokenChoice:
    """One of the completions of a prompt."""

    ids: tuple[int, ...]
    finish: str
    log_probs: tuple[float, ...] | None
    """Of the ids, if requested."""


@dataclass(frozen=True)
class TokenReply:
    """The completions of one prompt, in the order of their index."""

    choices: tuple[TokenChoice, ...]
    prompt_ids: tuple[int, ...] | None
    """The prompt as the server read it, if it reports it."""
    usage: Usage | None


def token_reply_of(body: str | Mapping[str, Any]) -> TokenReply | Fault:
    """Parse the body of a successful response; anything unexpected is a `Fault`."""
    try:
        response = json.loads(body) if isinstance(body, str) else body
        choices = sorted(response["choices"], key=lambda choice: choice["index"])
        if not choices or [choice["index"] for choice in choices] != list(range(len(choices))):
            raise ValueError("the choices are not numbered from 0")
        prompt = choices[0].get("prompt_token_ids")
        return TokenReply(
            choices=tuple(_choice(choice) for choice in choices),
            prompt_ids=None if prompt is None else _ids(prompt),
            usage=usage_of(response.get("usage")),
        )
    except NoIds as error:
        return Fault(NO_IDS, str(error), billable=True)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        detail = f"{type(error).__name__}: {error} in {_told(body)}"
        return Fault("malformed_response", detail, transient=True, billable=True)


def _told(body: str | Mapping[str, Any]) -> str:
    """A short description of a body. One with choices may contain a reply to a gated question and is not quoted."""
    text = str(body)
    return f"a body of {len(text)} characters with choices" if "choices" in text else repr(text[:200])


def _choice(choice: Mapping[str, Any]) -> TokenChoice:
    finish, given = choice["finish_reason"], choice.get("logprobs")
    if not isinstance(finish, str):
        raise TypeError(f"finish_reason is {finish!r}")
    if choice.get("token_ids") is not None:
        ids = _ids(choice["token_ids"])
    elif given is not None and all(token.startswith(MARK) for token in given["tokens"]):
        ids = _ids([int(token.removeprefix(MARK)) for token in given["tokens"]])
    else:
        raise NoIds("neither token_ids nor logprobs with tokens of the form token_id:17")
    log_probs = None if given is None else tuple(float(value) for value in given["token_logprobs"])
    if log_probs is not None and len(log_probs) != len(ids):
        raise ValueError(f"{len(log_probs)} log-probs of {len(ids)} tokens")
    return TokenChoice(ids, finish, log_probs)


def _ids(values: Sequence[Any]) -> tuple[int, ...]:
    if not all(type(value) is int and value >= 0 for value in values):
        raise TypeError("token ids are not non-negative integers")
    return tuple(values)
