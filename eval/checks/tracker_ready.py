"""Whether the tracker that a configuration names is there, and whether it has a key."""

from __future__ import annotations

import os
from importlib.util import find_spec

from eval.checks.finding import Check, Finding, failed, passed, warned
from eval.config import Plugin
from eval.tracker import NOBODY
from eval.trackers.wandb import has_key


def tracker_checks(report_to: Plugin) -> list[Check]:
    """The check "tracker", unless nobody is told."""
    return [] if report_to == NOBODY else [Check("tracker", lambda: tracker(report_to))]


def tracker(report_to: Plugin) -> Finding:
    """Whether figures will get to the tracker, or be kept offline."""
    name = report_to.name
    if find_spec(name) is None:
        install = "'.[train]'" if name == "wandb" else name
        return failed(f"report_to is {name}, which is not installed", f"pip install {install}, or --report-to none")
    if name != "wandb":
        return passed(f"{name} is installed")
    mode = report_to.options.get("mode") or os.environ.get("WANDB_MODE")
    if mode == "online" and not has_key():
        return failed("report_to.mode is online and there is no key", "run `wandb login`, or leave the mode out")
    if mode == "offline":
        return passed("wandb keeps figures offline, as asked")
    if not has_key():
        return warned("wandb keeps figures offline: there is no key", "run `wandb login`, or `wandb sync` later")
    return passed("wandb has a key")
