"""The page itself: one template, its style and its script, filled and written row by row.

Its Content-Security-Policy allows this style and this script by their hashes, images that carry their own data, and
nothing else: no request, no other script, no markup made of text.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.dialogue import STATES
from eval.labels import LABELS
from eval.model_comparison.evidence import relative_url
from eval.paper.headings import SETTINGS, heading, place
from eval.report_page import tables
from eval.report_page.dialogues import Choice, Limits, choose, entries
from eval.report_page.facts import Facts, facts_of
from eval.report_page.figures import drawings
from eval.report_page.inert import json_for_html, visible
from eval.report_page.marks import BAR, ORDER, WIDTH, place_of
from eval.report_page.models import side_by_side
from eval.runs import Run

if TYPE_CHECKING:
    from jinja2 import Template

FOLDER = Path(__file__).parent
SCRIPTS = ("text.js", "rows.js", "opened.js", "list.js")
"""Parts of the one script, in order."""


def write_page(runs: Sequence[Run], path: Path, allow_gated_text: bool = False, limits: Limits | None = None) -> Choice:
    """Put the page of the runs at `path`, whole or not at all; returns which dialogues it holds.

    Equal runs give equal bytes. Time is linear in the rows; no more than one row's text is held at a time.

    Raises:
        ConfigError: two runs cannot be told apart, or a line of a run is no row.
        OSError: `path` can't be written.
    """
    from markupsafe import Markup

    limits = limits or Limits()
    facts = facts_of(runs)
    choice = choose(runs, limits, allow_gated_text)
    fields = _fields(runs, facts, choice, limits, path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            rows = map(Markup, entries(runs, choice, allow_gated_text))
            for piece in _template().generate(**fields, rows=rows):
                file.write(piece)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return choice


def _fields(runs: Sequence[Run], facts: Facts, choice: Choice, limits: Limits, folder: Path) -> dict[str, Any]:
    from markupsafe import Markup

    style = Markup(_read("page.css"))
    script = Markup("".join(['"use strict";\n', *map(_read, SCRIPTS)]))
    shown, wanting = tables.paper_tables(runs)
    return {
        "facts": facts,
        "files": [_files(run, folder) for run in runs],
        "models": side_by_side(runs, folder),
        "policy": f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        "style": style,
        "script": script,
        "results": tables.results(runs, facts),
        "shares": tables.label_shares(runs, facts),
        "paper_tables": shown,
        "wanting": wanting,
        "drawings": list(drawings(runs)),
        "details": tables.details(runs, facts),
        "choice": choice,
        "limits": limits,
        "legend": [(label, place_of(label), LABELS[label]) for label in ORDER],
        "heading": heading,
        "drawing_width": WIDTH,
        "bar_width": BAR,
        "vocabulary": Markup(json_for_html(_vocabulary(runs, facts))),
    }


def _files(run: Run, folder: Path) -> list[tuple[str, str]]:
    """Names and relative URLs of the rows and the manifest of a run."""
    return [(name, relative_url(path / name, folder)) for path in run.paths for name in ("rows.jsonl", "manifest.json")]


def _vocabulary(runs: Sequence[Run], facts: Facts) -> Mapping[str, Any]:
    """What the script needs to know besides the rows."""
    tasks = sorted({summary.task for run in runs for summary in run.summaries}, key=place)
    return {
        "runs": [{"tag": run.tag, "name": run.name} for run in facts.runs],
        "labels": [[label, meaning] for label, meaning in LABELS.items()],
        "states": STATES,
        "tasks": [[task, heading(task)] for task in tasks],
        "settings": {setting: name for setting, name in SETTINGS.items() if setting},
    }


def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_inert,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _inert(value: Any) -> Any:
    """What a template prints: text has its unseen characters spelled out, and is escaped after this."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else visible(value)


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
