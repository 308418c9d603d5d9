"""Instruction following (IFEval, IFBench): prompts as dialogues, and the verdicts of the published checkers.

The checkers are those of `if-verifiable` (pinned), and verdicts are exactly theirs. This file handles what they leave
to the caller: a text that is empty, or on which a checker raises, fails the instruction; an unknown instruction or
argument is an error when the rows are read; random draws use a fixed seed. A text is graded as it is, truncated or not,
like the published graders do; they drop what precedes a `</think>` in it.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from eval.dialogue import Dialogue, Message
from eval.grading.corrected_checkers import correct_faults
from eval.grading.nltk_data import find_nltk_data
from eval.sources import Source, choose, read_unique

log = logging.getLogger(__name__)

COLUMNS = {"key": str, "prompt": str, "instruction_id_list": list, "kwargs": list}
Registry = Mapping[str, Any]
"""Instruction id -> checker class."""
_random_state = Lock()


class Verdict(NamedTuple):
    """Whether one instruction was followed: to the letter, or in any of eight variants of the text.

    The variants leave out the first line, the last, both or none, each with and without asterisks.
    """

    strict: bool
    loose: bool


def load_prompts(task: str, source: Source, limit: int | None, seed: int, data_dir: Path | None) -> list[Dialogue]:
    """The prompts of "ifeval" or "ifbench", verbatim, each with its instructions in `meta`; see `eval.sources.choose`.

    Raises:
        FileNotFoundError: no data file, or no NLTK data.
        ValueError: a malformed row, a repeated key, an unknown instruction, or a missing or invalid argument.
    """
    find_nltk_data(data_dir)
    dialogues = []
    for place, row in read_unique(source, COLUMNS, "key", data_dir=data_dir):
        meta = {"key": row["key"], "instructions": _instructions(place, task, row)}
        dialogues.append(Dialogue(task, (Message("user", row["prompt"]),), meta=meta))
    return choose(dialogues, limit, seed)


def verdicts(dialogue: Dialogue, *, corrected: bool = False) -> list[Verdict] | None:
    """The verdict on each instruction for the last assistant turn; None if there is no such turn.

    `corrected` uses the checkers of `eval/grading/corrected_checkers.py` instead of the published ones.

    Raises:
        FileNotFoundError: no NLTK data.
        ValueError: an unknown instruction.
    """
    answer = dialogue.last("assistant")
    if answer is None:
        return None
    prompt = next(message.text for message in dialogue.messages if message.role == "user")
    registry = _registry(dialogue.task, corrected)
    instructions = dialogue.meta["instructions"]
    return [_verdict(registry, prompt, answer.text, each["id"], each["kwargs"]) for each in instructions]


def _verdict(registry: Registry, prompt: str, text: str, name: str, arguments: dict[str, Any]) -> Verdict:
    from if_verifiable.common import evaluate_instructions

    if name not in registry:  # the library skips it, and the rest could still count as all
        raise ValueError(f"unknown instruction {name!r}; if-verifiable knows {', '.join(sorted(registry))}")
    try:
        with _seeded():
            results, _ = evaluate_instructions(text, [name], [arguments], prompt, dict(registry))
    except Exception:  # for example, a checker that indexes into a text without letters
        log.warning("the checker of %s raised on a text of %d characters; counted as not followed", name, len(text))
        return Verdict(False, False)
    if not results:  # the library found the text empty
        return Verdict(False, False)
    return Verdict(results[0].strict_pass, results[0].loose_pass)


def _instructions(place: str, task: str, row: dict[str, Any]) -> list[dict[str, Any]]:
    names, arguments = row["instruction_id_list"], row["kwargs"]
    if not names or len(names) != len(arguments):
        raise ValueError(f"{place}: {len(names)} instructions with {len(arguments)} kwargs; use the official file")
    return [_instruction(place, task, name, given) for name, given in zip(names, arguments, strict=True)]


def _instruction(place: str, task: str, name: Any, given: Any) -> dict[str, Any]:
    """An instruction with its arguments, without nulls, validated by its checker."""
    registry = _registry(task, False)
    if not isinstance(name, str) or name not in registry:
        raise ValueError(f"{place}: unknown instruction {name!r}; if-verifiable knows {', '.join(sorted(registry))}")
    if not isinstance(given, dict | None):
        raise ValueError(f"{place}: the kwargs of {name} are {type(given).__name__}, not an object or null")
    arguments = {key: value for key, value in (given or {}).items() if value is not None}
    checker = registry[name](name)
    # The checker draws missing arguments at random, which would make the grade random.
    if missing := sorted(set(checker.get_instruction_args_keys()) - set(arguments)):
        raise ValueError(f"{place}: {name} lacks {', '.join(missing)}; use the official file")
    try:
        with _seeded():
            checker.build_description(**arguments)
    except Exception as error:
        raise ValueError(f"{place}: the checker of {name} rejects {arguments}: {error}") from error
    return {"id": name, "kwargs": arguments}


@cache
def _registry(task: str, corrected: bool) -> Registry:
    import nltk

    find_nltk_data()
    # Importing the library downloads missing NLTK packages, even an obsolete one; offline it waits and then warns.
    download, nltk.download = nltk.download, lambda *_, **__: False
    try:
        from if_verifiable.ifbench import instructions_registry as ifbench
        from if_verifiable.ifeval import instructions_registry as ifeval
    finally:
        nltk.download = download
    from if_verifiable.ifeval import instructions

    # It logs full answers through module-level functions of `logging`, which also add a handler to the root logger.
    instructions.logging = logging.Logger("silenced")
    instructions.logging.addHandler(logging.NullHandler())
    published = {"ifeval": ifeval, "ifbench": ifbench}[task].INSTRUCTION_DICT
    return correct_faults(published) if corrected else published


@contextmanager
def _seeded() -> Iterator[None]:
    """Seed Python's and langdetect's random generators with 0 inside the context; restores both afterwards."""
    from langdetect import DetectorFactory

    with _random_state:
        before = random.getstate(), DetectorFactory.seed
        random.seed(0)
        DetectorFactory.seed = 0
        try:
            yield
        finally:
            random.setstate(before[0])
            DetectorFactory.seed = before[1]
