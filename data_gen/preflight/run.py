"""Preflight checks of `python -m data_gen.run`."""

from __future__ import annotations

import functools
import inspect

from data_gen.generate_config import GenerateConfig
from data_gen.generation_parts import GenerationParts, open_parts
from data_gen.overview import dollars_at_most
from data_gen.seeding import load_seeds
from eval import plugin
from eval.checks.cache_folder import cache_checks
from eval.checks.disk import disk_check
from eval.checks.estimate import Estimate
from eval.checks.finding import Check, Finding, passed
from eval.checks.judge_reachable import judge_checks
from eval.checks.pins import pins
from eval.checks.tracker_ready import tracker_checks

CONFIG = GenerateConfig
BYTES_OF_A_CONVERSATION = 64_000
"""Upper estimate of the bytes of a conversation in all files it is written to."""
WORDS_TO_TOKENS = 1.4
CONVERSATIONS_PER_S = 50
"""Of the scripted teacher and judge local, on one core (configs/data_gen/collab_smollm2.yaml)."""


def checks(config: GenerateConfig) -> list[Check]:
    """The checks of a data generation run, in order of dependence."""
    teacher_class = plugin.load("data_gen.teachers", config.teacher.name).Teacher

    @functools.cache
    def parts() -> GenerationParts:
        return open_parts(config)

    def seeds() -> Finding:
        found = load_seeds(config.seeds, config.seed, config.data_dir)
        return passed(", ".join(f"{len(rows):,} seeds of {name}" for name, rows in found.items()))

    def teacher() -> Finding:
        opened = teacher_class(**config.teacher.options)
        if not asks_server(teacher_class):
            return passed(f"{opened.id}: works without a server or a key")
        return passed(f"{opened.id}: settings and key are present; no request was sent")

    def settings() -> Finding:
        compared = ", ".join(parts().evaluation.rows) or "nothing"
        return passed(f"{len(parts().plans):,} conversations planned, compared with {compared}")

    def rows() -> tuple[int, str]:
        return config.conversations * BYTES_OF_A_CONVERSATION, "conversations"

    return [
        Check("pins", functools.partial(pins, ("data",))),
        Check("seeds", seeds),
        Check("teacher", teacher),
        *cache_checks([("teacher", teacher_class, config.teacher.options)]),
        *judge_checks([("judge", config.judge)]),
        Check("settings", settings, ("seeds", "teacher", "judge")),
        *tracker_checks(config.report_to),
        disk_check(config.folder, rows),
        Check("estimate", lambda: estimate(parts()), ("settings",)),
    ]


def estimate(parts: GenerationParts) -> Finding:
    """The finding "estimate": tokens of all planned turns, and dollars for those not yet generated."""
    turns = sum(len(plan.styles) for plan in parts.plans)
    words = parts.config.filters.user_words[1] + parts.config.filters.assistant_words[1]
    tokens = round(turns * words * WORDS_TO_TOKENS)
    dollars = dollars_at_most(parts)
    for name, asked in (("teacher", parts.teacher), ("judge", parts.judge)):
        if asks_server(type(asked)):
            return Estimate(None, tokens, dollars, f"as long as the {name}'s server takes").finding()
    hours = len(parts.plans) / CONVERSATIONS_PER_S / 3600
    basis = f"about {CONVERSATIONS_PER_S} conversations per second on one core"
    return Estimate(hours, tokens, dollars, basis).finding()


def asks_server(made: type) -> bool:
    """Whether a class of teachers or judges is a client of a server, whose address is then an option."""
    return "base_url" in inspect.signature(made).parameters
