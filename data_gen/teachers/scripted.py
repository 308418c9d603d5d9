"""The scripted teacher: composes each turn from the content of the last response, without a network or a model.

A user turn is a phrasing of its style (`data_gen/styles/`) filled with facets of the response (`data_gen/scripted/`):
a sum, a list item, a clause, a term, an amount. The reply is filled from the same facets, so it is true but carries
little information: these conversations are meant for training the user side.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from data_gen.plan import Persona, Plan
from data_gen.scripted.facets import bindings, by_salience, persona_slots
from data_gen.scripted.material import Material
from data_gen.scripted.phrasing import Phrasing
from data_gen.scripted.scene import Scene
from data_gen.style import Style, read_styles, style_names
from data_gen.teacher import conversation
from eval.dialogue import Dialogue, Failure, Message, content_hash
from eval.local_judge.effective_text import effective_text

CODE = Path(__file__).parent.parent / "scripted"
QUOTED = ("sentence", "next")
"""Slots that are available to every reply."""
ECHOED = {**{slot: slot for slot in QUOTED}, "verdict": "sentence", "changed_expression": "changed_expression"}
"""Reply slot -> the value a later user turn can react to; the reply's fixed phrases are not reacted to."""
CASUAL = 0.25
"""Share of user turns that begin with a lower-case letter."""


class Teacher:
    """Composes conversations one at a time, deterministically."""

    cost_bound: float | None = 0.0

    def __init__(self) -> None:
        self._styles = read_styles(style_names())
        self.id = f"scripted-1-{_version(self._styles)}"
        self.measured: dict[str, Any] = {}

    def converse(self, plans: Iterable[Plan]) -> Generator[tuple[Plan, Dialogue], None, None]:
        """Each plan with its conversation, in order.

        If a response offers nothing to react to, the conversation has `Failure("generate", "nothing_to_react_to")`.
        """
        for plan in plans:
            yield plan, self._converse(plan)

    def _converse(self, plan: Plan) -> Dialogue:
        draw = random.Random(plan.random_seed)
        scene = Scene.after(plan.seed.messages)
        turns: list[Message] = []
        phrasings: list[str] = []
        for name in plan.styles:
            exchange = self._exchange(self._styles[name], scene, plan.persona, draw)
            if exchange is None:
                failure = Failure(
                    "generate", "nothing_to_react_to", f"nothing for style {name} in {scene.ground[:80]!r}"
                )
                return conversation(plan, turns, self.id, made={"phrasings": phrasings}, failure=failure)
            phrasing, user_text, reply = exchange
            phrasings.append(phrasing)
            turns += [Message("user", user_text, self.id), Message("assistant", reply, self.id)]
        return conversation(plan, turns, self.id, made={"phrasings": phrasings})

    def _exchange(
        self, style: Style, scene: Scene, persona: Persona, draw: random.Random
    ) -> tuple[str, str, str] | None:
        """Phrasing name, user turn and reply; None if the last response has nothing this style can react to."""
        material = Material.of(scene.query, scene.ground)
        for phrasing in by_salience(_phrasings(style.name, style.scripted.user), draw):
            filled = bindings(phrasing.slots, material, scene.used, draw)
            if filled is None:
                continue
            values = {**persona_slots(persona), **filled, **scene.quotes(filled)}
            user_text = _maybe_lower_case(phrasing.say(values, draw), draw)
            reply = _choose_reply(_phrasings(style.name, style.scripted.assistant), values, draw)
            scene.ground = "\n".join(values[slot] for echo, slot in ECHOED.items() if echo in reply.slots)
            return phrasing.name, user_text, reply.say(values, draw)
        return None


def _choose_reply(replies: Sequence[Phrasing], values: Mapping[str, str], draw: random.Random) -> Phrasing:
    """A reply that `values` can fill, among those that use most of them: a worked sum rather than a quotation."""
    fitting = [reply for reply in replies if reply.slots <= values.keys()]
    most = max(len(reply.slots - set(QUOTED)) for reply in fitting)
    return draw.choice([reply for reply in fitting if len(reply.slots - set(QUOTED)) == most])


def _phrasings(style: str, templates: Sequence[str]) -> list[Phrasing]:
    return [Phrasing(f"{style}/{place}", template) for place, template in enumerate(templates)]


def _maybe_lower_case(text: str, draw: random.Random) -> str:
    """`text`, with its first letter in lower case for a share `CASUAL` of the turns."""
    casual = draw.random() < CASUAL and not text.startswith(("I ", "I'"))
    return text[:1].lower() + text[1:] if casual else text


def _version(styles: Mapping[str, Style]) -> str:
    """Eight hex digits that identify the phrasings, code and word lists; docstrings and comments do not count."""
    phrasings = [repr((style.name, style.scripted)) for style in styles.values()]
    files = sorted([Path(__file__), *CODE.glob("*.py"), *CODE.glob("*.yaml")])
    return content_hash([*phrasings, *map(effective_text, files)])[:8]
