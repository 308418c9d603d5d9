"""Training examples for inspection: their whole text, with trained tokens in colour and in brackets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from eval.rendering.chat_format import IGNORED, ChatFormat
from train.examples import TrainingExample
from train.mixture import Mixture

SHOWN = 3
"""Number of examples shown per source."""
OPEN, CLOSE = "\u27e6", "\u27e7"
"""Mark trained tokens without colour: white square brackets, which no chat format uses."""


def show_masks(mixture: Mixture, chat_format: ChatFormat, console: Console) -> None:
    """Print the first examples of each source."""
    for source, examples in mixture.examples.items():
        for example in examples[:SHOWN]:
            about = f"{source} {example.id}: {example.trained} of {len(example.input_ids)} tokens are trained"
            console.print(Text(f"{about}, weight {example.weight:g}", style="bold"), soft_wrap=True)
            console.print(marked(example, chat_format), soft_wrap=True)
            console.print()


def marked(example: TrainingExample, chat_format: ChatFormat) -> Text:
    """The text of an example, trained spans in brackets and green, control characters as symbols."""
    text = Text()
    for trained, ids in spans(example.input_ids, example.labels):
        part = printable(chat_format.decode(ids))
        text.append(f"{OPEN}{part}{CLOSE}" if trained else part, style="black on green" if trained else "")
    return text


def spans(ids: Sequence[int], labels: Sequence[int]) -> Iterator[tuple[bool, list[int]]]:
    """Runs of trained and of untrained tokens, in order."""
    for trained, run in groupby(zip(ids, labels, strict=True), key=lambda pair: pair[1] != IGNORED):
        yield trained, [token for token, _ in run]


def printable(text: str) -> str:
    """`text` with control characters other than line breaks replaced by their Unicode symbols."""
    return "".join(
        chr(0x2400 + ord(c)) if ord(c) < 0x20 and c != "\n" else "\u2421" if c == "\x7f" else c for c in text
    )
