"""Configuration of one data generation run: seeds, styles, teacher, judge, filters."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from data_gen.style import read_styles, style_names
from eval import plugin
from eval.config import Config, Plugin, options_for
from eval.plugin_fields import JudgePlugin, TrackerPlugin, checked
from eval.tracker import NOBODY

TeacherPlugin = Annotated[Plugin, AfterValidator(checked("data_gen.teachers", "Teacher", "teacher"))]


class LeakCheck(Config):
    """Overlap of seeds and generated turns with evaluation rows."""

    tasks: list[str] = Field(
        default_factory=lambda: plugin.names("eval.tasks"),
        description="files of eval/tasks/ to compare with; default: all; the card names those left out",
    )
    missing: Literal["error", "warn"] = Field("error", description="what to do if the data of a task is not available")
    seeds: Literal["error", "drop"] = Field("error", description="what to do with a seed that overlaps with such a row")

    @field_validator("tasks")
    @classmethod
    def _tasks_exist(cls, tasks: list[str]) -> list[str]:
        for name in tasks:
            plugin.load("eval.tasks", name)
        return sorted(set(tasks))


class Filters(Config):
    """What a conversation must satisfy to be kept; null disables an optional filter."""

    user_words: tuple[int, int] = Field((1, 120), description="minimum and maximum words of a generated user turn")
    assistant_words: tuple[int, int] = Field((1, 400), description="minimum and maximum words of a generated response")
    language: str | None = Field("en", description="ISO 639-1 code of the only language to keep; null keeps all")
    correct_answers: bool = Field(True, description="drop seeds whose answer is graded as wrong")
    genuine: bool = Field(True, description="every turn that should follow up must be judged a genuine follow-up")
    specific_share: float | None = Field(
        None, ge=0, le=1, description="minimum share of kept follow-ups labelled genuine_followup rather than generic"
    )
    near_duplicates: float | None = Field(
        0.8, gt=0, le=1, description="Jaccard similarity of user turns at or above which the later one is dropped"
    )

    @field_validator("user_words", "assistant_words")
    @classmethod
    def _words_are_a_range(cls, words: tuple[int, int]) -> tuple[int, int]:
        if not 0 <= words[0] <= words[1]:
            raise ValueError(f"{list(words)} is not a valid range of word counts; give [minimum, maximum]")
        return words


class GenerateConfig(Config):
    """Configuration of `python -m data_gen.run`."""

    name: str = Field(pattern=r"^[A-Za-z0-9][\w.-]*$", description="name of the data set")
    out_dir: Path | None = Field(None, description="folder of the data set; default: data/NAME")
    seeds: dict[str, dict[str, Any]] = Field(
        description="files of data_gen/seeds/, each with the options of its `load`; null omits one"
    )
    styles: dict[str, float] = Field(
        default_factory=lambda: dict.fromkeys(style_names(), 1.0),
        description="files of data_gen/styles/ with their weights, or a list of names; default: all, equally weighted",
    )
    conversations: int = Field(ge=1, description="number to generate; filters keep fewer")
    exchanges: tuple[int, int] = Field((2, 4), description="minimum and maximum user turns, including the seed's")
    plain_endings: float = Field(
        0.15, ge=0, le=1, description="share of conversations whose last user turn does not follow up"
    )
    teacher: TeacherPlugin = Field(Plugin(name="scripted"), description="file of data_gen/teachers/, with its options")
    judge: JudgePlugin = Field(Plugin(name="local"), description="a file of eval/judges/, with its options")
    filters: Filters = Field(Filters(), description="which conversations are kept")
    leak_check: LeakCheck = Field(LeakCheck(), description="excludes text of evaluation rows")
    report_to: TrackerPlugin = Field(
        NOBODY, description="experiment tracker: none, wandb (project, group, mode) or trackio"
    )
    seed: int = Field(0, ge=0, description="random seed of the plans, and of the rows drawn where a source has a limit")
    data_dir: Path | None = Field(None, description="folder of data files; default: $USERTURN_DATA, else the Hub")
    retry_failed: bool = Field(False, description="retry what failed in a finished data set, which is else only read")
    dry_run: bool = Field(False, description="print what would be made and its maximum cost, then exit")

    @property
    def folder(self) -> Path:
        """The folder of the data set."""
        return self.out_dir or Path("data") / self.name

    @field_validator("seeds", mode="before")
    @classmethod
    def _null_leaves_seeds_out(cls, seeds: Any) -> Any:
        if not isinstance(seeds, dict):
            return seeds
        return {name: options for name, options in seeds.items() if options is not None}

    @field_validator("seeds")
    @classmethod
    def _seeds_take_their_options(cls, seeds: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        if not seeds:
            raise ValueError(f"no seeds are given; data_gen/seeds has {', '.join(plugin.names('data_gen.seeds'))}")
        return {name: _checked_seed_options(name, options) for name, options in seeds.items()}

    @field_validator("styles", mode="before")
    @classmethod
    def _names_alone_weigh_alike(cls, styles: Any) -> Any:
        return dict.fromkeys(styles, 1.0) if isinstance(styles, list) else styles

    @field_validator("styles")
    @classmethod
    def _styles_exist_and_one_follows_up(cls, styles: dict[str, float]) -> dict[str, float]:
        if light := [name for name, weight in styles.items() if weight <= 0]:
            raise ValueError(f"{light[0]} has weight {styles[light[0]]:g}; weights must be above 0, or omit the style")
        if not any(style.follows_up and not style.needs_question for style in read_styles(styles).values()):
            raise ValueError(f"no style of {', '.join(styles) or 'none'} follows up on any response; add one that does")
        return styles

    @field_validator("exchanges")
    @classmethod
    def _exchanges_are_a_range(cls, exchanges: tuple[int, int]) -> tuple[int, int]:
        if not 2 <= exchanges[0] <= exchanges[1]:
            raise ValueError(f"{list(exchanges)} is not a valid range; the minimum is 2: the seed's turn and one more")
        return exchanges

    @model_validator(mode="after")
    def _a_specific_share_needs_the_judge(self) -> GenerateConfig:
        if self.filters.specific_share is not None and not self.filters.genuine:
            raise ValueError("filters.specific_share needs filters.genuine: true: it is a share of genuine follow-ups")
        return self


def _checked_seed_options(name: str, options: dict[str, Any]) -> dict[str, Any]:
    load = plugin.load("data_gen.seeds", name).load
    given = options_for(load, options, f"seeds.{name}", ours=["seed", "data_dir"])
    for option, parameter in inspect.signature(load).parameters.items():
        if parameter.default is inspect.Parameter.empty and option not in given:
            raise ValueError(f"seeds.{name}.{option} is required: it has no default")
    return given
