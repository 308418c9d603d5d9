"""An asynchronous client of a completions endpoint with prompts of token ids: one request in, ids or a `Fault` out."""

from __future__ import annotations

from eval.client.api_client import ApiClient
from eval.client.chat_reply import Fault
from eval.client.token_reply import TokenReply, token_reply_of


class TokenClient(ApiClient[TokenReply]):
    """The client of `eval/client/api_client.py` for completions."""

    path = "/completions"
    most_tokens = "max_tokens"

    def read(self, body: str) -> TokenReply | Fault:
        """The generated ids in the body of a successful response."""
        return token_reply_of(body)
