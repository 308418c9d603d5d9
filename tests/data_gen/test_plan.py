"""Plans are even over seeds, keep their shares, and a larger count only adds plans."""

from __future__ import annotations

from collections import Counter

from data_gen.plan import Persona, Plan, make_plans
from data_gen.style import read_styles, style_names
from eval.dialogue import Dialogue, Message

PERSONAS = [Persona(f"Person {n}.", "beginner", "g", "I c", "I s") for n in range(5)]
STYLES = read_styles(style_names())


def seeds(count: int, ending: str = ".") -> list[Dialogue]:
    return [Dialogue("t", (Message("user", f"q{n}"), Message("assistant", f"a{n}{ending}"))) for n in range(count)]


def made(count: int, ending: str = ".", seed: int = 0, plain: float = 0.2) -> list[Plan]:
    given = seeds(7, ending)
    return list(make_plans(count, given, STYLES, PERSONAS, exchanges=(2, 4), plain_endings=plain, seed=seed))


def test_a_larger_count_only_adds_plans() -> None:
    assert made(100)[:40] == made(40)
    assert made(40, seed=1) != made(40)


def test_seeds_are_used_evenly() -> None:
    uses = Counter(plan.seed.id for plan in made(70))
    assert set(uses.values()) == {10}


def test_turns_and_endings_follow_the_configuration() -> None:
    plans = made(2000)
    assert {len(plan.styles) for plan in plans} == {1, 2, 3}
    plain = [not STYLES[plan.styles[-1]].follows_up for plan in plans]
    assert abs(sum(plain) / 2000 - 0.2) < 0.03
    assert all(STYLES[name].follows_up for plan in plans for name in plan.styles[:-1])
    assert not any(not STYLES[plan.styles[-1]].follows_up for plan in made(200, plain=0.0))


def test_a_style_that_answers_needs_a_question() -> None:
    assert not any("answer_question" in plan.styles for plan in made(500))
    asked = made(500, ending="?", plain=0.0)
    assert sum(plan.styles[0] == "answer_question" for plan in asked) > 300
    assert not any("answer_question" in plan.styles[1:] for plan in asked)


def test_styles_are_drawn_by_their_weights() -> None:
    plans = made(3000, plain=0.0)
    uses = Counter(name for plan in plans for name in plan.styles)
    assert max(uses.values()) / min(uses.values()) < 1.25
    weights = {name: 3.0 if name == "extend" else 1.0 for name in STYLES}
    heavy = make_plans(3000, seeds(7), STYLES, PERSONAS, exchanges=(2, 4), plain_endings=0, seed=0, weights=weights)
    uses = Counter(name for plan in heavy for name in plan.styles)
    assert 2.5 < uses["extend"] / uses["apply"] < 3.5


def test_the_key_depends_on_everything_that_determines_a_conversation() -> None:
    plans = made(200)
    assert len({plan.key for plan in plans}) == 200
    assert plans[3].key == made(4)[3].key
