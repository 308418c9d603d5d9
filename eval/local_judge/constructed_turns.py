"""Synthetic user turns whose label follows from their construction: a copy is a restatement, another query a new task.

The fit of the local judge adds them to the labelled items, so that it learns the definitions of the labelling guide and
not only the habits of one small model. They are made only from training contexts and never used for evaluation.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from eval.dialogue import Message
from eval.gold import GoldItem
from eval.labels import ALWAYS_GENUINE
from eval.local_judge.turn_text import SENTENCE_END, Exchange, Reading, is_number, stem, words

EQUATION = re.compile(r"\d+(?:\.\d+)?(?: ?[-+*/=] ?\d+(?:\.\d+)?)+")
HASTY = 0.25
"""Share of the phrases that are rewritten as typed in haste."""
Made = tuple[Sequence[Message], str]
"""A context and a user turn to follow it."""
Maker = Callable[[GoldItem], Made | None]


def construct(items: Sequence[GoldItem], per_context: int, seed: int) -> list[GoldItem]:
    """Up to `per_context` turns per distinct context, cycling through the kinds. Deterministic given `seed`."""
    draw = random.Random(seed)
    contexts = list({item.context: item for item in items}.values())
    kinds = itertools.cycle(_kinds(contexts, draw))
    made: list[GoldItem] = []
    for item in contexts:
        for label, make in itertools.islice(kinds, per_context):
            if (found := make(item)) is not None:
                made.append(_labelled(item, *found, label))
    return made


def _kinds(contexts: Sequence[GoldItem], draw: random.Random) -> list[tuple[str, Maker]]:
    phrases = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return [
        ("previous_turn_restate", lambda item: _after(item, _part(_query(item), draw))),
        ("assistant_turn_restate", lambda item: _after(item, _part(_response(item), draw))),
        ("assistant_continuation", _continued),
        ("new_task_prompt", lambda item: _after(item, _query(draw.choice(contexts)))),
        ("malformed_artifact", lambda item: _after(item, _scrambled(_response(item), draw))),
        *((label, _filler(contexts, lines, draw)) for label, lines in phrases.items()),
        ("generic_followup", _filler(contexts, phrases["generic_followup"], draw)),
    ]


def _after(item: GoldItem, text: str | None) -> Made | None:
    return None if text is None else (item.dialogue.messages[:-1], text)


def _query(item: GoldItem) -> str:
    return item.dialogue.messages[-3].text if len(item.dialogue.messages) > 2 else ""


def _response(item: GoldItem) -> str:
    return item.dialogue.messages[-2].text


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in SENTENCE_END.split(text) if sentence.strip()]


def _part(text: str, draw: random.Random) -> str | None:
    """A near copy: consecutive sentences of the text, sometimes with words dropped."""
    sentences = _sentences(text)
    if not sentences or len(words(text)) < 5:
        return None
    start = draw.randrange(max(1, len(sentences) // 2))
    kept = " ".join(sentences[start : start + draw.randint(1, len(sentences))]).split(" ")
    if draw.random() < 0.6 and len(kept) > 6:
        for _ in range(1 + len(kept) // 10):
            kept.pop(draw.randrange(len(kept)))
    return " ".join(kept)


def _scrambled(text: str, draw: random.Random) -> str:
    """Words of the text with shuffled letters: gibberish in the language of the conversation."""
    found = draw.sample(known, min(len(known), draw.randint(4, 14))) if (known := text.split()) else ["x"]
    return " ".join("".join(draw.sample(word, len(word))) if len(word) > 3 else word for word in found)


def _continued(item: GoldItem) -> Made | None:
    """The response cut in two; its second half continues the assistant's first half."""
    sentences = _sentences(_response(item))
    if len(sentences) < 4 or sentences[-1].rstrip().endswith("?"):
        return None
    half = len(sentences) // 2
    first = replace(item.dialogue.messages[-2], text=" ".join(sentences[:half]))
    return (*item.dialogue.messages[:-2], first), "\n".join(sentences[half : half + 4])


def _filler(items: Sequence[GoldItem], lines: Sequence[str], draw: random.Random) -> Maker:
    """A maker of one of the lines with its blanks filled; None if the conversation has nothing to fill them with."""

    def fill(item: GoldItem) -> Made | None:
        exchange = Exchange.of(item.dialogue.messages[:-1], "")
        source = item.dialogue.messages[-2].text.split()
        start = draw.randrange(max(1, len(source)))
        known = exchange.query.vocabulary | exchange.earlier.vocabulary
        blanks = {
            "{taken}": [word for word in _content(exchange.response) if stem(word) not in known],
            "{asked}": _content(exchange.query),
            "{number}": sorted(exchange.response.numbers - exchange.query.numbers - exchange.earlier.numbers),
            "{equation}": EQUATION.findall(item.dialogue.messages[-2].text),
            "{quote}": [" ".join(source[start : start + draw.randint(3, 6)])] if source else [],
            "{word}": _content(exchange.query) + _content(exchange.response),
            "{stranger}": _content(Exchange.of(draw.choice(items).dialogue.messages[:-1], "").query),
        }
        line = draw.choice(lines)
        for blank, choices in blanks.items():
            while blank in line:
                if not choices:
                    return None
                line = line.replace(blank, draw.choice(choices), 1)
        return _after(item, _hasty(line) if draw.random() < HASTY else line)

    return fill


def _hasty(line: str) -> str:
    """The line as typed on a phone: lower case, without final punctuation."""
    return line.lower().rstrip(".?!") or line


def _content(reading: Reading) -> list[str]:
    """The content words of the folded text, in order of first occurrence."""
    return list(dict.fromkeys(w for w in reading.words if stem(w) in reading.content and not is_number(w)))


def _labelled(item: GoldItem, context: Sequence[Message], text: str, label: str) -> GoldItem:
    dialogue = replace(item.dialogue, messages=(*context, Message("user", text)), id="")
    return replace(item, dialogue=dialogue, label=label, genuine=label in ALWAYS_GENUINE, source="constructed")
