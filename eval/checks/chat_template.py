"""Whether the model's chat template keeps the prefix contract: the ids that open a turn begin the conversation's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from eval.checks.finding import Check, Finding, failed, passed, warned
from eval.dialogue import Message
from eval.rendering.chat_format import ChatFormat

ASKED = (Message("user", "What is 6 times 7?"), Message("assistant", "6 x 7 = 42."))
"""A conversation before a user's turn."""


def template_check(chat_format: Callable[[], ChatFormat]) -> Check:
    """The check "template"; `chat_format` opens it."""

    def look() -> Finding:
        opened = chat_format()
        conversations = list(awkward(opened))
        flaws = [flaw for conversation in conversations for flaw in prefix_flaws(opened, conversation)]
        about = f"{opened.name}, template {opened.template_sha[:12]}"
        shown = opened.decode(opened.open_turn(ASKED, "user"))
        if opened.history == "as_last":
            todo = "history: as_history is what a real conversation has there; keep as_last only to show the difference"
            return warned(f"{about}: as_last, what opens a turn need not begin the conversation", todo, shown)
        if flaws:
            return failed(f"{about}: {flaws[0]}", "take the chat template that the model was published with")
        return passed(f"{about}: what opens a turn begins each of {len(conversations)} conversations", shown)

    return Check("template", look, needs=("model",))


def awkward(chat_format: ChatFormat) -> Iterator[tuple[Message, ...]]:
    """Conversations of texts that are hard for templates and tokenizers: control tokens, white space, no text."""
    control = "".join(sorted(chat_format.tokenizer.added_tokens_encoder)[:40])
    for text in ("Text.", f"a {control} b", "  two spaces  ", "\n\nlines\n\n", "</think> after", ""):
        yield tuple(Message("assistant" if turn % 2 else "user", text) for turn in range(4))
        yield (Message("system", "Be brief."), *(Message("assistant" if t % 2 else "user", text) for t in range(3)))


def prefix_flaws(chat_format: ChatFormat, messages: Sequence[Message]) -> Iterable[str]:
    """Turns of `messages` that are opened with other ids than the conversation has there."""
    ids = chat_format.ids(messages)
    for turn, message in enumerate(messages):
        if message.role == "user" or turn == len(messages) - 1:
            opened = chat_format.open_turn(messages[:turn], message.role) if turn or message.role == "user" else []
            if ids[: len(opened)] != opened:
                yield f"turn {turn} ({message.role}, text {message.text[:20]!r}) is opened with other ids"
