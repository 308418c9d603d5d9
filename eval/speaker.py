"""The same weights speak either role: `speak(dialogues, "assistant")` answers, `speak(dialogues, "user")` is the probe.

Joins one chat format with one engine. It knows no task and no judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from eval.dialogue import Dialogue, Failure, Message, content_hash
from eval.engine import Completion, Engine, Prompt, Sampling
from eval.rendering.chat_format import ChatFormat
from eval.time_spent import each


@dataclass(frozen=True)
class Speaker:
    """Generates the next turn of a role; counts the tokens it reads and writes in `tokens`, by role."""

    engine: Engine
    chat_format: ChatFormat
    model_id: str
    """Name and digest of the weights, which every generated message carries as `by`."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """What its folder says of its training."""
    tokens: Counter[str] = field(default_factory=Counter)

    @property
    def voice(self) -> list[Any]:
        """Who speaks and how: weights and their precision, format, template, history choice, options."""
        chat_format = self.chat_format
        rendering = [chat_format.name, chat_format.template_sha, chat_format.history, dict(chat_format.options)]
        return [self.model_id, self.engine.dtype, *rendering]

    def key(self, dialogue: Dialogue, role: Literal["user", "assistant"], sampling: Sampling) -> str:
        """Hash of all that decides the turn: the voice, the role, the sampling, the row and its text."""
        said = [[message.role, message.text] for message in dialogue.messages]
        return content_hash([*self.voice, role, sampling.model_dump(), dialogue.id, said])

    def speak(
        self, dialogues: Iterable[Dialogue], role: Literal["user", "assistant"], sampling: Sampling
    ) -> Iterator[tuple[str, Dialogue]]:
        """Each dialogue with one more turn of `role`, or with the failure that prevented it, as (key, dialogue).

        Streams: dialogues are taken as the engine has room for them and come back in the order in which they finish.
        The random stream of a row is seeded by the row's id, the role and `sampling.seed` alone.
        """
        waiting: dict[str, Dialogue] = {}
        refused: list[tuple[str, Dialogue]] = []

        def prompts() -> Iterator[Prompt]:
            for dialogue in dialogues:
                key = self.key(dialogue, role, sampling)
                try:
                    ids = self.chat_format.open_turn(dialogue.messages, role)
                except ValueError as error:
                    refused.append((key, replace(dialogue, failure=Failure("generate", "template", str(error)))))
                    continue
                waiting[key] = dialogue
                self.tokens["prompt"] += len(ids)
                yield Prompt(key, ids, seed=int(content_hash([dialogue.id, role, sampling.seed]), 16))

        # An engine that tells more of its time than "generate" takes it out of that.
        drawn = each("bookkeeping", prompts())
        for key, result in each("generate", self.engine.generate(drawn, sampling, self.chat_format.stop_ids(role))):
            yield key, self._turn(waiting.pop(key), role, result)
            while refused:
                yield refused.pop()
        yield from refused

    def _turn(self, dialogue: Dialogue, role: Literal["user", "assistant"], result: Completion | Failure) -> Dialogue:
        if isinstance(result, Failure):
            return replace(dialogue, failure=result)
        said = self.chat_format.clean(result.ids, role)
        tokens = len(result.ids)
        self.tokens[role] += tokens
        return dialogue.says(Message(role, said.text, self.model_id, said.finish, tokens, said.reasoning))
