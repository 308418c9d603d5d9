"""An episode: the ids that were sampled, in spans of one turn each, and the dialogue that they say.

It knows no model and no trainer. What a trainer needs of it is `prompt_ids`, `completion_ids` and, of equal length,
`trained` and `roles`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from eval.dialogue import Dialogue, Message, Role


@dataclass(frozen=True)
class Span:
    """Ids in a row that one turn says, or (role None) that the template writes between two turns."""

    role: Role | None
    ids: tuple[int, ...]
    trained: bool
    """False for what was not sampled, and for a turn that was cut off."""
    logprobs: tuple[float | None, ...] | None = None
    """Of the sampler, where it tells them."""


@dataclass(frozen=True)
class Episode:
    """A dialogue with the ids that its last turns were sampled as."""

    dialogue: Dialogue
    row: int
    """Place among the episodes of the step, over all processes."""
    prompt_ids: tuple[int, ...]
    spans: tuple[Span, ...] = ()
    rewards: dict[str, float | None] = field(default_factory=dict)
    advantages: dict[str, float] = field(default_factory=dict)
    """By reward."""
    credit: dict[Role, float] = field(default_factory=dict)
    """The advantage of the tokens of each turn."""

    @property
    def completion_ids(self) -> list[int]:
        """Everything after the prompt."""
        return [token for span in self.spans for token in span.ids]

    @property
    def ids(self) -> list[int]:
        """Prompt and completion: what the next turn is sampled behind."""
        return [*self.prompt_ids, *self.completion_ids]

    @property
    def trained(self) -> list[int]:
        """1 for each id of the completion that the loss is made of, 0 for any other."""
        return [int(span.trained) for span in self.spans for _ in span.ids]

    @property
    def roles(self) -> list[Role | None]:
        """Whose turn each id of the completion is."""
        return [span.role for span in self.spans for _ in span.ids]

    @property
    def token_credit(self) -> list[float]:
        """The advantage of each id of the completion."""
        return [self.credit.get(role, 0.0) if role else 0.0 for role in self.roles]

    @property
    def logprobs(self) -> list[float | None] | None:
        """Of each id of the completion, 0 for what was not sampled; None where the sampler told none."""
        found: list[float | None] = []
        for span in self.spans:
            if span.role is None:
                found += [0.0] * len(span.ids)
            elif span.logprobs is None:
                return None
            else:
                found += span.logprobs
        return found

    def said(self, message: Message, ids: Sequence[int], logprobs: Sequence[float | None] | None = None) -> Episode:
        """This episode with one more turn. A turn that was cut off is kept, judged, and not trained."""
        span = Span(
            message.role,
            tuple(ids),
            message.finish == "stop",
            None if logprobs is None else tuple(logprobs),
        )
        return replace(self, dialogue=self.dialogue.says(message), spans=(*self.spans, span))

    def followed_by(self, ids: Sequence[int]) -> Episode:
        """This episode with ids between two turns."""
        return replace(self, spans=(*self.spans, Span(None, tuple(ids), False)))
