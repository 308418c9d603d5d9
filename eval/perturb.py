"""Controlled changes of the assistant turn before the user turn is spoken: does the model look at what was said?

Each perturbation is made once, with its options, and is then a `Dialogue -> Dialogue` that changes the text of the last
assistant turn and nothing else, or fails; the dialogue keeps its id. Source: arXiv 2604.02315, section on perturbations
and Table 1. How much is cut and which questions are appended is not published: both are options, to be swept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from eval.dialogue import Dialogue, Failure
from eval.rendering.plain_text import PlainText

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Perturbation = Callable[[Dialogue], Dialogue]

QUESTIONS = {
    "opinion": "What do you think?",
    "clear": "Does that make sense to you?",
    "next": "Where would you like to go from here?",
    "situation": "How does this fit with what you are working on?",
}
"""Wordings for `append_question`, by the name that a configuration uses; the first is the paper's example."""


def truncate(
    tokenizer: PreTrainedTokenizerBase, *, fraction: Annotated[float, Field(gt=0, lt=1)] = 0.5
) -> Perturbation:
    """Remove `fraction` of the tokens of the response from its end; at least one token stays, and at least one goes.

    Where that leaves no text, as of a response of one token, the dialogue fails with kind "too_short_to_truncate".
    """

    plain = PlainText(tokenizer)

    def perturb(dialogue: Dialogue) -> Dialogue:
        ids = plain.encode(dialogue.messages[-1].text)
        kept = min(max(round(len(ids) * (1 - fraction)), 1), len(ids) - 1)
        text = tokenizer.decode(ids[: max(kept, 0)], skip_special_tokens=False)
        # A cut through a character of several tokens leaves a replacement character, which nobody said.
        text = str(text).rstrip("\ufffd")
        if not text:
            problem = f"nothing is left of an answer of {len(ids)} tokens"
            return replace(dialogue, failure=Failure("generate", "too_short_to_truncate", problem))
        return _with_answer(dialogue, text)

    return perturb


def append_question(
    tokenizer: PreTrainedTokenizerBase, *, wording: Literal["opinion", "clear", "next", "situation"] = "opinion"
) -> Perturbation:
    """End the response with a question that fits any response."""

    def perturb(dialogue: Dialogue) -> Dialogue:
        return _with_answer(dialogue, f"{dialogue.messages[-1].text.rstrip()}\n\n{QUESTIONS[wording]}")

    return perturb


def describe(perturbation: Mapping[str, Any] | None) -> str:
    """A perturbation as a protocol holds it, in words, such as "truncate fraction 0.5"; "none" without one."""
    if perturbation is None:
        return "none"
    options = [f"{key} {value}" for key, value in sorted(perturbation.items()) if key != "name"]
    return " ".join([perturbation["name"], *options])


PERTURBATIONS: dict[str, Callable[..., Perturbation]] = {"truncate": truncate, "append_question": append_question}


def _with_answer(dialogue: Dialogue, text: str) -> Dialogue:
    *before, answer = dialogue.messages
    return replace(dialogue, messages=(*before, replace(answer, text=text)))
