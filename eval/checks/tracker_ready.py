"""Whether the tracker that a configuration names is installed, has a key and reaches its server."""

from __future__ import annotations

import os
from importlib.util import find_spec

from eval.checks.finding import Check, Finding, failed, passed, warned
from eval.config import Plugin
from eval.tracker import NOBODY
from eval.wandb_server import address, has_key, is_reachable


def tracker_checks(report_to: Plugin) -> list[Check]:
    """The check "tracker", unless there is none."""
    return [] if report_to == NOBODY else [Check("tracker", lambda: tracker(report_to))]


def tracker(report_to: Plugin) -> Finding:
    """Whether metrics will reach the tracker or be kept offline, which fails only if the mode is online."""
    name = report_to.name
    if find_spec(name) is None:
        install = "'.[train]'" if name == "wandb" else name
        return failed(f"report_to is {name}, which is not installed", f"pip install {install}, or --report-to none")
    if name != "wandb":
        return passed(f"{name} is installed")
    mode = report_to.options.get("mode") or os.environ.get("WANDB_MODE")
    if mode in ("offline", "disabled"):
        return passed(f"wandb is {mode}, as asked")
    if not has_key():
        problem, remedy = "there is no key", "run `wandb login`"
    elif not is_reachable():
        problem, remedy = f"{address()} does not answer from here", "set https_proxy, where there is a proxy"
    else:
        return passed(f"wandb has a key, and {address()} answers")
    if mode == "online":
        return failed(f"the mode of wandb is online, and {problem}", f"{remedy}, or leave the mode out")
    return warned(f"wandb keeps metrics offline: {problem}", f"{remedy}, or send them with `wandb sync` later")
