"""An episode: a dialogue with the token ids its last turns were sampled as, in one span per turn.

Knows no model and no trainer. A trainer needs `prompt_ids`, `completion_ids` and, of the same length, `trained` and
`roles`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from eval.dialogue import Dialogue, Message, Role


@dataclass(frozen=True)
class Span:
    """Consecutive ids of one turn, or (role None) of what the template writes between two turns."""

    role: Role | None
    ids: tuple[int, ...]
    trained: bool
    """False for ids that were not sampled and for truncated turns."""
    logprobs: tuple[float | None, ...] | None = None
    """From the sampler, if it reports them."""


@dataclass(frozen=True)
class Episode:
    """A dialogue with the ids that its last turns were sampled as."""

    dialogue: Dialogue
    row: int
    """Index among the episodes of the step, over all processes."""
    prompt_ids: tuple[int, ...]
    spans: tuple[Span, ...] = ()
    rewards: dict[str, float | None] = field(default_factory=dict)
    advantages: dict[str, float] = field(default_factory=dict)
    """By reward."""
    credit: dict[Role, float] = field(default_factory=dict)
    """The advantage of each turn's tokens, by role."""

    @property
    def completion_ids(self) -> list[int]:
        """All ids after the prompt."""
        return [token for span in self.spans for token in span.ids]

    @property
    def ids(self) -> list[int]:
        """Prompt and completion: the context that the next turn is sampled from."""
        return [*self.prompt_ids, *self.completion_ids]

    @property
    def trained(self) -> list[int]:
        """For each id of the completion, 1 if it is part of the loss, else 0."""
        return [int(span.trained) for span in self.spans for _ in span.ids]

    @property
    def roles(self) -> list[Role | None]:
        """For each id of the completion, the role whose turn it belongs to."""
        return [span.role for span in self.spans for _ in span.ids]

    @property
    def token_credit(self) -> list[float]:
        """The advantage of each id of the completion."""
        return [self.credit.get(role, 0.0) if role else 0.0 for role in self.roles]

    @property
    def logprobs(self) -> list[float | None] | None:
        """For each id of the completion, 0 if it was not sampled; None if the sampler did not report any turn's."""
        values: list[float | None] = []
        for span in self.spans:
            if span.role is None:
                values += [0.0] * len(span.ids)
            elif span.logprobs is None:
                return None
            else:
                values += span.logprobs
        return values

    def with_turn(
        self, message: Message, ids: Sequence[int], logprobs: Sequence[float | None] | None = None
    ) -> Episode:
        """This episode plus one sampled turn. A truncated turn is kept and judged but not trained."""
        span = Span(
            message.role,
            tuple(ids),
            message.finish == "stop",
            None if logprobs is None else tuple(logprobs),
        )
        return replace(self, dialogue=self.dialogue.says(message), spans=(*self.spans, span))

    def with_template_ids(self, ids: Sequence[int]) -> Episode:
        """This episode plus the ids that the template writes between two turns."""
        return replace(self, spans=(*self.spans, Span(None, tuple(ids), False)))
