"""Configuration fields that name a plugin: its options are checked against the plugin's constructor on validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from pydantic import AfterValidator

from eval import plugin
from eval.config import Plugin, options_for


def checked(folder: str, class_name: str, option_prefix: str, ours: Sequence[str] = ()) -> Callable[[Plugin], Plugin]:
    """A validator that converts a plugin's options to the types of its constructor.

    Args:
        folder: package of the plugins, such as "eval.judges".
        class_name: class of each plugin that takes the options.
        option_prefix: what the options are called in error messages.
        ours: constructor parameters that the caller passes, so that no configuration may set them.

    Raises:
        ValueError: there is no such plugin, or it does not take these options.
    """

    def check(chosen: Plugin) -> Plugin:
        constructor = getattr(plugin.load(folder, chosen.name), class_name).__init__
        options = options_for(constructor, chosen.options, option_prefix, ours=list(ours))
        return Plugin(name=chosen.name, **options)

    return check


check_tracker = checked("eval.trackers", "Tracker", "report_to", ["run"])

EnginePlugin = Annotated[Plugin, AfterValidator(checked("eval.engines", "Engine", "engine", ["folder"]))]
FormatPlugin = Annotated[Plugin, AfterValidator(checked("eval.formats", "Format", "format", ["tokenizer", "history"]))]
JudgePlugin = Annotated[Plugin, AfterValidator(checked("eval.judges", "Judge", "judge"))]
TrackerPlugin = Annotated[Plugin, AfterValidator(check_tracker)]
