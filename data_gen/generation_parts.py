"""The components of a data generation run, built from its configuration: seeds, plans, teacher, judge, filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from data_gen.evaluation_texts import EvaluationTexts, read_evaluation_texts
from data_gen.filter_context import Context
from data_gen.filtering import Reject
from data_gen.generate_config import Filters, GenerateConfig
from data_gen.language import known_languages
from data_gen.leaks import LEAK
from data_gen.ngram_index import NgramIndex
from data_gen.personas import read_personas
from data_gen.plan import Plan, make_plans
from data_gen.seed_filters import seed_reason
from data_gen.seeding import load_seeds
from data_gen.style import Style, read_styles
from data_gen.teacher import Teacher
from eval import plugin
from eval.config import ConfigError
from eval.dialogue import Dialogue, content_hash
from eval.judge import Judge


@dataclass(frozen=True)
class GenerationParts:
    """The components of one run."""

    config: GenerateConfig
    seeds: Mapping[str, Sequence[Dialogue]]
    """The seeds in use, by source."""
    refused: Sequence[Reject]
    """The rejected seeds."""
    styles: Mapping[str, Style]
    plans: Sequence[Plan]
    teacher: Teacher
    judge: Judge
    evaluation: EvaluationTexts
    context: Context

    def key(self, plan: Plan) -> str:
        """The key of a generated conversation: a hash of the teacher's id and of the plan."""
        return content_hash([self.teacher.id, plan.key])


def open_parts(config: GenerateConfig) -> GenerationParts:
    """Build the components that `config` names.

    Raises:
        ConfigError: seeds, evaluation rows, teacher or judge are missing or malformed, or a seed is a leak.
    """
    teacher: Teacher = plugin.load("data_gen.teachers", config.teacher.name).Teacher(**config.teacher.options)
    judge: Judge = plugin.load("eval.judges", config.judge.name).Judge(**config.judge.options)
    _check_requirements(config.filters)
    styles = read_styles(config.styles)
    evaluation = read_evaluation_texts(config.leak_check.tasks, config.data_dir, config.leak_check.missing)
    following = frozenset(name for name, style in styles.items() if style.follows_up)
    context = Context(config.filters, following, NgramIndex(evaluation.texts))
    seeds, refused = _seeds(config, context)
    plans = make_plans(
        config.conversations,
        [one for found in seeds.values() for one in found],
        styles,
        read_personas(),
        exchanges=config.exchanges,
        plain_endings=config.plain_endings,
        seed=config.seed,
        weights=config.styles,
    )
    return GenerationParts(config, seeds, refused, styles, list(plans), teacher, judge, evaluation, context)


def _check_requirements(limits: Filters) -> None:
    """Fail before generation starts if a filter's language or package is not available."""
    if limits.language not in {None, *known_languages()}:
        known = ", ".join(known_languages())
        raise ConfigError(f"filters.language: {limits.language!r} is not supported; supported are {known}")
    if limits.near_duplicates is not None and find_spec("datasketch") is None:
        raise ConfigError("filters.near_duplicates needs datasketch: pip install '.[data]', or set it to null")


def _seeds(config: GenerateConfig, context: Context) -> tuple[dict[str, list[Dialogue]], list[Reject]]:
    """The seeds in use, by source, and the rejected ones.

    Raises:
        ConfigError: as `load_seeds`; a seed is a leak and leaks are errors; or no seed is left.
    """
    used: dict[str, list[Dialogue]] = {}
    refused: list[Reject] = []
    for name, found in load_seeds(config.seeds, config.seed, config.data_dir).items():
        used[name] = []
        for one in found:
            if reason := seed_reason(one, context):
                refused.append(Reject(one, "seed", reason))
            else:
                used[name].append(one)
    leaks = [reject for reject in refused if reject.reason.name == LEAK]
    if leaks and config.leak_check.seeds == "error":
        first = leaks[0]
        raise ConfigError(
            f"{len(leaks)} seeds contain text of evaluation rows, the first is {first.dialogue.task} "
            f"{first.dialogue.id}, {first.reason.detail}; drop such seeds with leak_check.seeds: drop"
        )
    if not any(used.values()):
        reasons = dict(Counter(reject.reason.name for reject in refused))
        raise ConfigError(f"all {len(refused)} seeds were rejected: {reasons}")
    return used, refused
