"""The card of a data set: the Hub's YAML header, contents, how it was made and filtered, three examples.

Contains no times or paths, so the same data set always has the same card. Text from models and data sets is fenced so
that it cannot change the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from data_gen.features import FILES, header_features
from data_gen.filtering import Filtered
from data_gen.generation_parts import GenerationParts
from data_gen.leaks import LEAK
from data_gen.summary import Summary, tables
from eval import plugin, table_formats
from eval.dialogue import Dialogue

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
"""(exclusive upper bound of the number of rows, the Hub's name of that size category)."""
EXAMPLES = 3
LONGEST_QUOTE = 700
"""Most characters of a turn that an example shows."""


def card(parts: GenerationParts, filtered: Filtered, counted: Summary) -> str:
    """The text of `README.md`."""
    header = yaml.safe_dump(_header(parts, counted), sort_keys=False, allow_unicode=True)
    sections = [
        f"# {parts.config.name}",
        _about(parts, counted),
        _use(parts),
        "## Sources\n\n" + _bullets(_sources(parts, counted)),
        "## Filters\n\n" + _bullets(_filters(parts)) + "\n\n" + table_formats.to_markdown(tables(counted)).strip(),
        "## Overlap with evaluations\n\n" + _leak_check(parts, counted),
        "## Examples\n\n" + "\n\n".join(map(_fenced, _examples(filtered.kept))),
    ]
    return f"---\n{header}---\n\n" + "\n\n".join(sections) + "\n"


def _header(parts: GenerationParts, counted: Summary) -> dict[str, Any]:
    rows = counted.rows["conversations.jsonl"]
    language = parts.config.filters.language
    written = [name for name in FILES if counted.rows[f"{name}.jsonl"]]
    return {
        "license": sorted({_seed_module(name).LICENCE.lower() for name in parts.seeds}),
        **({"language": [language]} if language else {}),
        "pretty_name": parts.config.name,
        "task_categories": ["text-generation"],
        "tags": ["synthetic", "multi-turn", "user-simulation"],
        "size_categories": [next((name for limit, name in SIZES if rows < limit), "n>1M")],
        "configs": [
            {
                "config_name": name,
                "data_files": [{"split": "train", "path": f"{name}.jsonl"}],
                **({"default": True} if name == written[0] else {}),
            }
            for name in written
        ],
        "dataset_info": [{"config_name": name, "features": header_features(FILES[name])} for name in written],
    }


def _about(parts: GenerationParts, counted: Summary) -> str:
    turns = counted.diversity.turns
    return (
        f"{counted.kept} conversations in which the user follows up on what the assistant just said, with {turns} "
        f"generated user turns. Each starts from a seed, a question and a response; teacher `{parts.teacher.id}` "
        f"generates both sides after that. {parts.config.plain_endings:.0%} of the plans end in a user turn that does "
        "not follow up, so that a model trained on them does not learn to always ask. Made with `python -m "
        "data_gen.run`; the configuration, the code's commit and the hashes of the files are in `manifest.json`."
    )


def _use(parts: GenerationParts) -> str:
    return (
        "`conversations.jsonl` has one conversation per line: `messages` (the first `meta.seed_turns` are the seed), "
        "`meta.styles` (one per later user turn) and `meta.judged` (the judge's verdict on each). `solutions.jsonl` "
        "has the seeds whose answer is graded as correct, `rejects.jsonl` what was rejected, with a reason. "
        "`load_dataset` reads the column types from the header of this card:\n\n"
        f'```python\nload_dataset("ORG/{parts.config.name}", "conversations", split="train")\n```'
    )


def _sources(parts: GenerationParts, counted: Summary) -> list[str]:
    return [
        f"`{name}`: {counted.seeds[name]} seeds, {_seed_module(name).ORIGIN}, licence {_seed_module(name).LICENCE}"
        for name in parts.seeds
    ]


def _filters(parts: GenerationParts) -> list[str]:
    limits = parts.config.filters
    judged = f"judge `{parts.judge.id}`"
    return [
        f"a generated user turn has {limits.user_words[0]} to {limits.user_words[1]} words, a response "
        f"{limits.assistant_words[0]} to {limits.assistant_words[1]}; neither was cut off",
        "no special token of a chat family, no speaker header, no user who speaks as the assistant or repeats a turn",
        f"language: {limits.language or 'any'}",
        f"seeds with a wrong answer are {'dropped' if limits.correct_answers else 'used as well'}",
        f"{judged} labels every turn that should follow up as a genuine follow-up"
        if limits.genuine
        else f"{judged} labelled the turns, but its labels rejected nothing",
        f"at least {limits.specific_share:.0%} of the follow-ups are specific"
        if limits.specific_share is not None
        else "no minimum share of specific follow-ups",
        f"the user turns of no two conversations have a Jaccard similarity of {limits.near_duplicates:g} or more"
        if limits.near_duplicates is not None
        else "near-duplicates are kept",
    ]


def _leak_check(parts: GenerationParts, counted: Summary) -> str:
    compared = ", ".join(f"{name} ({rows} rows)" for name, rows in parts.evaluation.rows.items())
    absent = sorted({*plugin.names("eval.tasks")} - parts.evaluation.rows.keys())
    reasons = {name: "no file" if name in parts.evaluation.missing else "not requested" for name in absent}
    skipped = ", ".join(f"{name} ({why})" for name, why in reasons.items())
    dropped = counted.seeds_refused.get(LEAK, 0)
    return (
        f"No turn, seed or generated, shares 8 consecutive words with a row of: {compared or 'nothing'}. "
        f"{dropped} seeds were dropped for such an overlap. "
        + (f"**Not compared with: {skipped}.**" if skipped else "Every evaluation of this project was compared.")
    )


def _examples(kept: Sequence[Dialogue]) -> list[Dialogue]:
    """Evenly spaced conversations, so that they do not all come from one seed."""
    return [kept[place * len(kept) // EXAMPLES] for place in range(min(EXAMPLES, len(kept)))]


def _fenced(dialogue: Dialogue) -> str:
    """A conversation in a code fence longer than any run of backticks in it."""
    lines = [f"[{message.role}] {_shorten(message.text)}" for message in dialogue.messages]
    text = "\n\n".join(lines)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _shorten(text: str) -> str:
    plain = "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in text)
    return plain if len(plain) <= LONGEST_QUOTE else plain[:LONGEST_QUOTE] + " [...]"


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _seed_module(name: str) -> Any:
    return plugin.load("data_gen.seeds", name)
