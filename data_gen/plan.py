"""Plans of conversations, drawn before generation: the seed, the persona of the user and the style of each turn."""

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
"""Probability that the first follow-up is drawn from the styles that suit the response."""
LEVELS = ("beginner", "intermediate", "expert")


@dataclass(frozen=True)
class Persona:
    """Who the user is and what they want."""

    persona: str
    level: str
    """One of `LEVELS`."""
    goal: str
    """Steers what the user asks and is never said."""
    constraint: str
    """A clause in the first person, such as "I only have ten minutes a day"."""
    situation: str


@dataclass(frozen=True)
class Plan:
    """One conversation to generate: `seed`, then one exchange per style in `styles`."""

    number: int
    seed: Dialogue
    """Ends in an assistant response."""
    styles: tuple[str, ...]
    """Of the user turns after the seed's response, in order; only the last may be a style that does not follow up."""
    persona: Persona
    random_seed: int
    """For the teacher's random draws."""

    @cached_property
    def key(self) -> str:
        """Hash of everything that determines the conversation apart from the teacher."""
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
    """`count` plans; each depends only on `seed` and its number, so a larger count only adds plans.

    Seeds are used evenly, in shuffled order; styles are drawn by weight. The first follow-up mostly has a style that
    suits the response, so that the user's behaviour depends on the response.

    Args:
        exchanges: minimum and maximum user turns of a conversation, including the opening one.
        plain_endings: share of conversations whose last user turn does not follow up, in [0, 1].
        weights: sampling weight of each style among those allowed at a position; None: uniform.
    """

    def drawn(among: Sequence[Style], draw: random.Random) -> str:
        (style,) = draw.choices(among, [weights[style.name] for style in among] if weights else None)
        return style.name

    following = [style for style in styles.values() if style.follows_up]
    unasked = [style for style in following if not style.needs_question]
    plain = [style for style in styles.values() if not style.follows_up]
    for number, start in zip(range(count), _shuffled_cycles(seeds, seed), strict=False):
        draw = random.Random(content_hash([seed, number]))
        turns = draw.randint(*exchanges) - 1
        suited = _suited_styles(start, following) if draw.random() < SUITED else []
        names = [drawn(suited or unasked, draw)]
        names += [drawn(unasked, draw) for _ in range(turns - 1)]
        if plain and draw.random() < plain_endings:
            names[-1] = drawn(plain, draw)
        yield Plan(number, start, tuple(names), draw.choice(personas), draw.getrandbits(48))


def _suited_styles(start: Dialogue, following: Sequence[Style]) -> list[Style]:
    """The styles that suit the response of `start`."""
    query = next((message.text for message in reversed(start.messages) if message.role == "user"), "")
    matching = occasions(query, start.messages[-1].text)
    return [style for style in following if not matching.isdisjoint(style.suits)]


def _shuffled_cycles(seeds: Sequence[Dialogue], seed: int) -> Iterator[Dialogue]:
    """All seeds in shuffled order, endlessly, reshuffled in each cycle."""
    for lap in itertools.count():
        yield from random.Random(content_hash([seed, "lap", lap])).sample(seeds, len(seeds))
