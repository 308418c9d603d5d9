"""The card describes the data and has the Hub's header, and quoted text cannot change it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from data_gen.dataset_card import card
from data_gen.features import DIALOGUE, header_features
from data_gen.filter_context import Reason
from data_gen.filtering import Filtered, Reject
from data_gen.generate_config import GenerateConfig
from data_gen.generation_parts import GenerationParts, open_parts
from data_gen.summary import summarise
from eval.config import validate
from eval.dialogue import Dialogue

Make = Callable[..., Any]
ROWS = {"conversations.jsonl": 2, "solutions.jsonl": 8, "rejects.jsonl": 1}


@pytest.fixture(scope="module")
def parts(evaluation_dir: Path) -> GenerationParts:
    fields = {"name": "ferns", "conversations": 3, "seeds": {"gsm8k": {}, "written": {"limit": 2}}}
    return open_parts(
        validate(GenerateConfig, {**fields, "data_dir": evaluation_dir, "filters": {"specific_share": 0.5}})
    )


def card_of(parts: GenerationParts, kept: list[Dialogue], rows: dict[str, int] = ROWS) -> str:
    rejects = [Reject(replace(kept[0], id="r"), "judge", Reason("not_genuine", "message 2: other"))]
    filtered = Filtered(kept, rejects)
    return card(parts, filtered, summarise(parts, filtered, rows))


def header(text: str) -> dict[str, Any]:
    return yaml.safe_load(text.split("---\n")[1])


def test_the_header_is_the_hubs(parts: GenerationParts, make_conversation: Make, give_verdicts: Make) -> None:
    found = header(card_of(parts, [give_verdicts(make_conversation())]))
    assert found["license"] == ["apache-2.0", "mit"] and found["language"] == ["en"]
    assert found["size_categories"] == ["n<1K"]
    assert [(one["config_name"], one["data_files"][0]["path"], one.get("default")) for one in found["configs"]] == [
        ("conversations", "conversations.jsonl", True),
        ("solutions", "solutions.jsonl", None),
        ("rejects", "rejects.jsonl", None),
    ]
    assert found["dataset_info"][0] == {"config_name": "conversations", "features": header_features(DIALOGUE)}


def test_an_empty_file_is_not_a_configuration_of_the_card(
    parts: GenerationParts, make_conversation: Make, give_verdicts: Make
) -> None:
    found = header(card_of(parts, [give_verdicts(make_conversation())], {**ROWS, "solutions.jsonl": 0}))
    assert [one["config_name"] for one in found["configs"]] == ["conversations", "rejects"]


def test_the_card_describes_how_the_data_was_made(
    parts: GenerationParts, make_conversation: Make, give_verdicts: Make
) -> None:
    text = card_of(parts, [give_verdicts(make_conversation())])
    for expected in (
        parts.teacher.id,
        parts.judge.id,
        "`gsm8k`: 8 seeds, https://huggingface.co/datasets/openai/gsm8k, licence MIT",
        "at least 50% of the follow-ups are specific",
        "| rejected: not_genuine | 1 (50.0 %) |",
        "gsm8k (1 rows), healthbench (2 rows)",
        "Every evaluation of this project was compared.",
    ):
        assert expected in " ".join(text.split()), expected


def test_examples_cannot_inject_markup(parts: GenerationParts, make_conversation: Make, give_verdicts: Make) -> None:
    hostile = "```\n# A heading\n---\nlicense: none\n<script>alert(1)</script>\n````text\n![x](http://x) \x1b[31m\u202e"
    text = card_of(parts, [give_verdicts(make_conversation(hostile, hostile))])
    assert header(text)["license"] == ["apache-2.0", "mit"]
    tokens = MarkdownIt("commonmark").parse(text.split("---\n", 2)[2])
    headings = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]
    assert "A heading" not in headings and headings[0] == "ferns"
    assert not any(token.type == "html_block" for token in tokens)
    fences = [token.content for token in tokens if token.type == "fence"]
    assert sum("<script>" in content for content in fences) == 1
    assert "\x1b" not in text and "\u202e" not in text


def test_a_long_turn_is_shortened(parts: GenerationParts, make_conversation: Make, give_verdicts: Make) -> None:
    text = card_of(parts, [give_verdicts(make_conversation("why " * 900, "So."))])
    assert text.count("why ") < 200 and "[...]" in text
