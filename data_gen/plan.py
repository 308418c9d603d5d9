"""What each conversation will be, before anyone speaks: where it starts, who the user is, how each turn behaves."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from data_gen.occasion import occasions
from data_gen.style import Style
from eval.dialogue import Dialogue, content_hash

SUITED = 0.8
"""Share of first follow-ups whose style suits the response."""
LEVELS = ("beginner", "intermediate", "expert")


@dataclass(frozen=True)
class Persona:
    """Who speaks as the user, and what for."""

    persona: str
    level: str
    """One of `LEVELS`."""
    goal: str
    """Hidden: it steers what the user asks and is never said."""
    constraint: str
    """A clause in the first person, such as "I only have ten minutes a day"."""
    situation: str


@dataclass(frozen=True)
class Plan:
    """One conversation to be: `seed` and then one exchange for each of `styles`."""

    number: int
    seed: Dialogue
    """Ends in an assistant response."""
    styles: tuple[str, ...]
    """Of the user turns after the seed's response, in order; only the last may be one that follows nothing up."""
    persona: Persona
    random_seed: int
    """For whatever the teacher draws."""

    @cached_property
    def key(self) -> str:
        """Hash of all that decides the conversation, the teacher aside."""
        return content_hash([self.seed.id, self.styles, asdict(self.persona), self.random_seed])


def make_plans(
    count: int,
    seeds: Sequence[Dialogue],
    styles: Mapping[str, Style],
    personas: Sequence[Persona],
    *,
    exchanges: tuple[int, int],
    plain_endings: float,
    seed: int,
    weights: Mapping[str, float] | None = None,
) -> Iterator[Plan]:
    """`count` plans; each is drawn from its number alone, so that a larger count only adds plans.

    Seeds are used evenly, in a shuffled order; styles as their weights say. A first follow-up mostly has a style that
    suits the response, so that what the user does depends on what the response is.

    Args:
        exchanges: least and most user turns of a conversation, the opening one included.
        plain_endings: share of conversations whose last user turn follows nothing up, in [0, 1].
        weights: how often each style is drawn among those that may stand at its place; None: all alike.
    """

    def drawn(among: Sequence[Style], draw: random.Random) -> str:
        (style,) = draw.choices(among, [weights[style.name] for style in among] if weights else None)
        return style.name

    following = [style for style in styles.values() if style.follows_up]
    unasked = [style for style in following if not style.needs_question]
    plain = [style for style in styles.values() if not style.follows_up]
    for number, start in zip(range(count), _laps(seeds, seed), strict=False):
        draw = random.Random(content_hash([seed, number]))
        turns = draw.randint(*exchanges) - 1
        suited = _suited(start, following) if draw.random() < SUITED else []
        names = [drawn(suited or unasked, draw)]
        names += [drawn(unasked, draw) for _ in range(turns - 1)]
        if plain and draw.random() < plain_endings:
            names[-1] = drawn(plain, draw)
        yield Plan(number, start, tuple(names), draw.choice(personas), draw.getrandbits(48))


def _suited(start: Dialogue, following: Sequence[Style]) -> list[Style]:
    """The styles that suit the response of `start`."""
    query = next((message.text for message in reversed(start.messages) if message.role == "user"), "")
    given = occasions(query, start.messages[-1].text)
    return [style for style in following if not given.isdisjoint(style.suits)]


def _laps(seeds: Sequence[Dialogue], seed: int) -> Iterator[Dialogue]:
    """Every seed in a shuffled order, and again in another, without end."""
    for lap in itertools.count():
        yield from random.Random(content_hash([seed, "lap", lap])).sample(seeds, len(seeds))
