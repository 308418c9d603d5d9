"""The embedded teacher: it composes each turn from what the last response really says. No network, no model.

A user turn is a phrasing of its style (`data_gen/styles/`) filled with facets of the response (`data_gen/scripted/`):
a sum, a list item, a clause, a term, an amount. The reply is filled from the same facets, so it is true but
says little: these conversations are made to train the user's side on.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from data_gen.plan import Persona, Plan
from data_gen.scripted.facets import bindings, by_salience, persona_slots
from data_gen.scripted.material import Material, sentences_of
from data_gen.scripted.phrasing import Phrasing
from data_gen.style import Style, read_styles, style_names
from data_gen.teacher import conversation
from eval.dialogue import Dialogue, Failure, Message

CODE = Path(__file__).parent.parent / "scripted"
CASUAL = 0.25
"""Share of the user turns that begin with a small letter."""


class Teacher:
    """Composes conversations one after the other, the same way every time."""

    cost_bound: float | None = 0.0

    def __init__(self) -> None:
        self._styles = read_styles(style_names())
        self.id = f"scripted-1-{_version(self._styles)}"
        self.measured: dict[str, Any] = {}

    def converse(self, plans: Iterable[Plan]) -> Generator[tuple[Plan, Dialogue], None, None]:
        """Each plan with its conversation, in order.

        A response that offers nothing to react to gives `Failure("generate", "nothing_to_react_to")`.
        """
        for plan in plans:
            yield plan, self._converse(plan)

    def _converse(self, plan: Plan) -> Dialogue:
        draw = random.Random(plan.random_seed)
        response = plan.seed.messages[-1].text
        scene = Scene(sentences_of(response), said_by_user(plan.seed.messages), response)
        turns: list[Message] = []
        phrasings: list[str] = []
        for name in plan.styles:
            exchange = self._exchange(self._styles[name], scene, plan.persona, draw)
            if exchange is None:
                failure = Failure(
                    "generate", "nothing_to_react_to", f"nothing for style {name} in {scene.ground[:80]!r}"
                )
                return conversation(plan, turns, self.id, made={"phrasings": phrasings}, failure=failure)
            phrasing, said, reply = exchange
            phrasings.append(phrasing)
            turns += [Message("user", said, self.id), Message("assistant", reply, self.id)]
        return conversation(plan, turns, self.id, made={"phrasings": phrasings})

    def _exchange(
        self, style: Style, scene: Scene, persona: Persona, draw: random.Random
    ) -> tuple[str, str, str] | None:
        """Name of the phrasing, user turn and reply; None if the last response has nothing for this style."""
        material = Material.of(scene.query, scene.ground)
        for phrasing in by_salience(_phrasings(style.name, style.scripted.user), draw):
            filled = bindings(phrasing.slots, material, scene.used, draw)
            if filled is None:
                continue
            values = {**persona_slots(persona), **filled, **scene.go_on(filled)}
            said = _in_register(phrasing.say(values, draw), draw)
            replies = _phrasings(style.name, style.scripted.assistant)
            reply = draw.choice([reply for reply in replies if reply.slots <= values.keys()])
            return phrasing.name, said, reply.say(values, draw)
        return None


@dataclass
class Scene:
    """What has been said that a user turn can react to."""

    sentences: Sequence[str]
    """Of the seed's response, which the replies quote."""
    query: str
    ground: str
    """What the last response says, without its own phrases around it."""
    used: set[str] = field(default_factory=set)

    def go_on(self, filled: Mapping[str, str]) -> dict[str, str]:
        """The sentence that a reply comes to next, as slot `next`; the reply's content becomes the new ground."""
        sentence = filled.get("sentence", "")
        place = self.sentences.index(sentence) if sentence in self.sentences else -1
        following = self.sentences[(place + 1) % len(self.sentences)]
        self.ground = "\n".join([sentence, following, filled.get("changed_expression", "")])
        return {"next": _ended(following), "sentence": _ended(sentence)} if sentence else {}


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", ":")) else f"{sentence}."


def said_by_user(messages: Iterable[Message]) -> str:
    """All that the user has said so far."""
    return "\n".join(message.text for message in messages if message.role == "user")


def _phrasings(style: str, templates: Sequence[str]) -> list[Phrasing]:
    return [Phrasing(f"{style}/{place}", template) for place, template in enumerate(templates)]


def _in_register(text: str, draw: random.Random) -> str:
    """Some people begin with a small letter."""
    casual = draw.random() < CASUAL and not text.startswith(("I ", "I'"))
    return text[:1].lower() + text[1:] if casual else text


def _version(styles: Mapping[str, Style]) -> str:
    """Eight hex digits over the phrasings and the code that fills them."""
    digest = hashlib.sha256(repr([style.scripted for style in styles.values()]).encode())
    for path in sorted(CODE.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]
