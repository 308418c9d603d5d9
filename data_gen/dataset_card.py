"""The card of a data set: the Hub's header, what is in it, how it was made and filtered, three examples.

It has no times and no paths, so the same data set has the same card. What a model or a data set wrote is quoted so that
nothing in it can change the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from data_gen.features import FILES, header_features
from data_gen.filtering import Filtered
from data_gen.generation_parts import Parts
from data_gen.leaks import LEAK
from data_gen.summary import Summary, tables
from eval import plugin, table_formats
from eval.dialogue import Dialogue

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
"""The Hub's names for numbers of rows below a limit."""
EXAMPLES = 3
LONGEST_QUOTE = 700
"""Characters of a turn that an example shows."""


def card(parts: Parts, filtered: Filtered, counted: Summary) -> str:
    """The text of `README.md`."""
    header = yaml.safe_dump(_header(parts, counted), sort_keys=False, allow_unicode=True)
    sections = [
        f"# {parts.config.name}",
        _about(parts, counted),
        _use(parts),
        "## Sources\n\n" + _listed(_sources(parts, counted)),
        "## Filters\n\n" + _listed(_filters(parts)) + "\n\n" + table_formats.to_markdown(tables(counted)).strip(),
        "## Overlap with evaluations\n\n" + _leak_check(parts, counted),
        "## Examples\n\n" + "\n\n".join(map(_quoted, _examples(filtered.kept))),
    ]
    return f"---\n{header}---\n\n" + "\n\n".join(sections) + "\n"


def _header(parts: Parts, counted: Summary) -> dict[str, Any]:
    rows = counted.rows["conversations.jsonl"]
    language = parts.config.filters.language
    written = [name for name in FILES if counted.rows[f"{name}.jsonl"]]
    return {
        "license": sorted({_source(name).LICENCE.lower() for name in parts.seeds}),
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


def _about(parts: Parts, counted: Summary) -> str:
    turns = counted.diversity.turns
    return (
        f"{counted.kept} conversations in which the user follows up on what the assistant just said, with {turns} "
        f"generated user turns. Each begins with a seed, a question and a response; teacher `{parts.teacher.id}` "
        f"speaks both sides after that. {parts.config.plain_endings:.0%} of the plans end in a user turn that follows "
        "nothing up, so that a model trained on them does not learn to ask always. Made with `python -m data_gen.run`; "
        "the configuration, the code's commit and the hashes of the files are in `manifest.json`."
    )


def _use(parts: Parts) -> str:
    return (
        "`conversations.jsonl` has a conversation a line: `messages` (the first `meta.seed_turns` are the seed), "
        "`meta.styles` (one for each later user turn) and `meta.judged` (the judge's verdict on each). "
        "`solutions.jsonl` has the seeds with an answer that is graded right, `rejects.jsonl` what was not kept, with "
        "a reason. Load it with the features of the header, which `load_dataset` reads by itself:\n\n"
        f'```python\nload_dataset("ORG/{parts.config.name}", "conversations", split="train")\n```'
    )


def _sources(parts: Parts, counted: Summary) -> list[str]:
    return [
        f"`{name}`: {counted.seeds[name]} seeds, {_source(name).ORIGIN}, licence {_source(name).LICENCE}"
        for name in parts.seeds
    ]


def _filters(parts: Parts) -> list[str]:
    limits = parts.config.filters
    judged = f"judge `{parts.judge.id}`"
    return [
        f"a generated user turn has {limits.user_words[0]} to {limits.user_words[1]} words, a response "
        f"{limits.assistant_words[0]} to {limits.assistant_words[1]}; neither was cut off",
        "no special token of a chat family, no speaker's header, no user who speaks as the assistant or repeats a turn",
        f"language: {limits.language or 'any'}",
        f"seeds with a wrong answer are {'left out' if limits.correct_answers else 'used too'}",
        f"{judged} says of every turn that follows up that it is a genuine follow-up"
        if limits.genuine
        else f"{judged} was asked, and decided nothing",
        f"at least {limits.specific_share:.0%} of the follow-ups are specific"
        if limits.specific_share is not None
        else "no least share of specific follow-ups",
        f"user turns of no two conversations have a Jaccard similarity of {limits.near_duplicates:g} or more"
        if limits.near_duplicates is not None
        else "near-duplicates are kept",
    ]


def _leak_check(parts: Parts, counted: Summary) -> str:
    compared = ", ".join(f"{name} ({rows} rows)" for name, rows in parts.evaluation.rows.items())
    absent = sorted({*plugin.names("eval.tasks")} - parts.evaluation.rows.keys())
    reasons = {name: "no file" if name in parts.evaluation.missing else "not asked for" for name in absent}
    skipped = ", ".join(f"{name} ({why})" for name, why in reasons.items())
    dropped = counted.seeds_refused.get(LEAK, 0)
    return (
        f"No turn, of a seed or generated, shares 8 words in a row with a row of: {compared or 'nothing'}. "
        f"{dropped} seeds were left out for it. "
        + (f"**Not compared with: {skipped}.**" if skipped else "Every evaluation of this project was compared.")
    )


def _examples(kept: Sequence[Dialogue]) -> list[Dialogue]:
    """Evenly spread, so that they do not come from one seed."""
    return [kept[place * len(kept) // EXAMPLES] for place in range(min(EXAMPLES, len(kept)))]


def _quoted(dialogue: Dialogue) -> str:
    """A conversation in a fence that no text in it can close."""
    lines = [f"[{message.role}] {_shortened(message.text)}" for message in dialogue.messages]
    text = "\n\n".join(lines)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _shortened(text: str) -> str:
    plain = "".join(char if char.isprintable() or char == "\n" else "\ufffd" for char in text)
    return plain if len(plain) <= LONGEST_QUOTE else plain[:LONGEST_QUOTE] + " [...]"


def _listed(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _source(name: str) -> Any:
    return plugin.load("data_gen.seeds", name)
