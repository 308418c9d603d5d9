"""An asynchronous client of a chat-completions endpoint: one request in, a `Reply` or a `Fault` out."""

from __future__ import annotations

from eval.client.api_client import ApiClient
from eval.client.chat_reply import Fault, Reply, reply_of


class ChatClient(ApiClient[Reply]):
    """The client of `eval/client/api_client.py` for chat completions."""

    path = "/chat/completions"
    most_tokens = "max_completion_tokens"

    def read(self, body: str) -> Reply | Fault:
        """The reply in the body of a successful response."""
        return reply_of(body)
