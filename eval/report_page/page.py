"""Renders the page from template, style and script, row by row, with further parts next to it if it would be too long.

Its Content-Security-Policy allows this style and this script by their hashes, images with data URLs, and nothing else:
no request, no other script, no markup made from text.
"""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.dialogue import STATES
from eval.finished_runs import Run
from eval.labels import LABELS
from eval.model_comparison.evidence import relative_url
from eval.paper.headings import SETTINGS, heading, place
from eval.report_page import tables
from eval.report_page.dialogues import Limits, Spread, spread
from eval.report_page.facts import Facts, facts_of
from eval.report_page.figures import drawings
from eval.report_page.inert import json_for_html, visible
from eval.report_page.marks import BAR, ORDER, WIDTH, place_of
from eval.report_page.models import side_by_side

if TYPE_CHECKING:
    from jinja2 import Template

FOLDER = Path(__file__).parent
SCRIPTS = ("text.js", "rows.js", "opened.js", "list.js")
"""Parts of the one script, in order."""


def write_page(runs: Sequence[Run], path: Path, allow_gated_text: bool = False, limits: Limits | None = None) -> Spread:
    """Write the page of the runs to `path` atomically; returns its dialogues by part.

    Dialogues beyond the limits of one part follow in pages `2.html`, `3.html`, ... in the folder `NAME_parts` next to
    it, where NAME is the page's name without suffix. Equal runs give equal bytes. Time is linear in the rows, memory
    constant.

    Raises:
        ConfigError: two runs have the same settings, or a run has a malformed row.
        OSError: `path` can't be written.
    """
    facts = facts_of(runs)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        spool = Path(folder)
        found = spread(runs, limits or Limits(), allow_gated_text, spool)
        shared = {"title": facts.title, "spread": found, **_frame(runs, facts)}
        places = [path, *(_parts_of(path) / f"{number}.html" for number in range(2, len(found.parts) + 1))]
        for number, (page, part) in enumerate(zip(places, found.parts, strict=True), start=1):
            links = [relative_url(other, page.parent) for other in places]
            fields = {**shared, "number": number, "part": part, "parts": links}
            if number == 1:
                _write("page.html", {**fields, **_fields(runs, facts, path.parent)}, spool / "1.html")
            else:
                _write("part.html", fields, spool / f"{number}.html")
        _publish(spool, places)
    return found


def pages_of(path: Path) -> list[Path]:
    """The page at `path` and the further pages with its dialogues, in order."""
    further = [page for page in _parts_of(path).glob("*.html") if page.stem.isdecimal()]
    return [path, *sorted(further, key=lambda page: int(page.stem))]


def _parts_of(path: Path) -> Path:
    return path.with_name(f"{path.stem}_parts")


def _write(template: str, fields: Mapping[str, Any], path: Path) -> None:
    from markupsafe import Markup

    with path.open("w", encoding="utf-8") as file:
        for piece in _template(template).generate(**fields, rows=map(Markup, fields["part"].entries())):
            file.write(piece)


def _publish(made: Path, places: Sequence[Path]) -> None:
    """Move the pages in `made` to their places, the first one last, and remove parts of an earlier, longer report."""
    folder = _parts_of(places[0])
    if len(places) > 1:
        folder.mkdir(exist_ok=True)
    for number in range(len(places), 0, -1):
        os.replace(made / f"{number}.html", places[number - 1])
    for old in folder.glob("*.html"):
        if old.stem.isdecimal() and old not in places:
            old.unlink()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _frame(runs: Sequence[Run], facts: Facts) -> dict[str, Any]:
    """The fields of every part: policy, style, script, and the script's vocabulary."""
    from markupsafe import Markup

    style = Markup(_read("page.css"))
    script = Markup("".join(['"use strict";\n', *map(_read, SCRIPTS)]))
    return {
        "policy": f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        "style": style,
        "script": script,
        "vocabulary": Markup(json_for_html(_vocabulary(runs, facts))),
    }


def _fields(runs: Sequence[Run], facts: Facts, folder: Path) -> dict[str, Any]:
    """The additional fields of the first part."""
    shown, left_out = tables.paper_tables(runs)
    return {
        "facts": facts,
        "files": [_files(run, folder) for run in runs],
        "models": side_by_side(runs, folder),
        "results": tables.results(runs, facts),
        "shares": tables.label_shares(runs, facts),
        "paper_tables": shown,
        "left_out": left_out,
        "drawings": list(drawings(runs)),
        "details": tables.details(runs, facts),
        "legend": [(label, place_of(label), LABELS[label]) for label in ORDER],
        "heading": heading,
        "drawing_width": WIDTH,
        "bar_width": BAR,
    }


def _files(run: Run, folder: Path) -> list[tuple[str, str]]:
    """(name, relative URL) of the rows and the manifest of a run."""
    return [(name, relative_url(path / name, folder)) for path in run.paths for name in ("rows.jsonl", "manifest.json")]


def _vocabulary(runs: Sequence[Run], facts: Facts) -> Mapping[str, Any]:
    """The data that the script needs in addition to the rows."""
    tasks = sorted({summary.task for run in runs for summary in run.summaries}, key=place)
    return {
        "runs": [{"tag": run.tag, "name": run.name} for run in facts.runs],
        "labels": [[label, meaning] for label, meaning in LABELS.items()],
        "states": STATES,
        "tasks": [[task, heading(task)] for task in tasks],
        "settings": {setting: name for setting, name in SETTINGS.items() if setting},
    }


def _template(name: str) -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_inert,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def _inert(value: Any) -> Any:
    """A value for the template: invisible characters of text are spelled out; escaping follows."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else visible(value)


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
