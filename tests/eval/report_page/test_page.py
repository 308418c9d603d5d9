"""The whole page: what it says, that no text in it is anything but text, and that gated text stays out."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval.dialogue import Failure
from eval.finished_runs import read_runs
from eval.report_page.page import FOLDER, SCRIPTS, write_page

MakeRun = Callable[..., Path]


def test_the_head_says_what_was_measured_and_with_what(page_of: Any, rows_of: Any) -> None:
    page = page_of(rows_of("gsm8k", 8, 2), model="Tiny-135M@0123abcd", temperature=0.7, judge="local-9")
    facts = " ".join(page.text[: page.text.index("Every count")].split())
    for told in (
        "model Tiny-135M@0123abcd",
        "judge local-9",
        "chat format smollm2",
        "history as_history",
        "user turns temperature 0.7, top_p 1, top_k 0, max_tokens 96, seed 0",
        "answers temperature 0 (greedy), max_tokens 96, seed 0",
        "perturbation none",
        "code unknown commit",
    ):
        assert told in facts
    assert re.search(r"template hash [0-9a-f]{16}", facts)
    assert "8 of 8 rows judged" in " ".join(page.text.split())


def test_equal_runs_give_equal_bytes(make_run: MakeRun, rows_of: Any, tmp_path: Path) -> None:
    runs = read_runs(
        [make_run("a", rows_of("gsm8k", 9, 3, right=4)), make_run("b", rows_of("gsm8k", 9, 1), temperature=1)]
    )
    written = [tmp_path / "one.html", tmp_path / "two.html"]
    for path in written:
        write_page(runs, path)
    assert written[0].read_bytes() == written[1].read_bytes()


def test_hostile_text_of_models_arrives_as_it_is_and_only_as_data(
    page_of: Any, row_of: Any, says: Any, hostile: tuple[str, ...]
) -> None:
    rows = [says(row_of("gsm8k", number), text) for number, text in enumerate(hostile)]
    page = page_of(rows)
    texts = {row["messages"][2]["text"] for row in page.json("rows")}
    assert texts == set(hostile)
    harmless = page_of([says(row_of("gsm8k", number), "fine") for number in range(len(hostile))], name="other")
    assert [name for name, _ in page.elements] == [name for name, _ in harmless.elements]


def test_hostile_names_and_labels_are_spelled_out(page_of: Any, row_of: Any) -> None:
    evil = "</title><script>1</script>\u202e\x1b"
    page = page_of([row_of(evil, 0, label=evil)], model=f"{evil}@0", judge=f"{evil}")
    assert sum(name == "script" for name, _ in page.elements) == 3
    assert "\u202e" not in page.source and "\x1b" not in page.source
    assert "</title><script>1</script>⟦U+202E⟧⟦U+001B⟧" in page.text


def test_only_the_parts_of_the_page_itself_may_run(page_of: Any, rows_of: Any) -> None:
    page = page_of(rows_of("gsm8k", 4, 1, right=2))
    metas = [attributes for name, attributes in page.elements if name == "meta"]
    (policy,) = [meta["content"] for meta in metas if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy and "default-src 'none'" in policy and "unsafe" not in policy
    live = [text for attributes, text in page.raw if attributes.get("type") != "application/json"]
    assert len(live) == 2
    for text in live:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    for element, attributes in page.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes), element
        for name in {"src", "href"} & attributes.keys():
            assert str(attributes[name]).startswith(("#", "data:image/svg+xml;base64,")), attributes


def test_script_and_style_reach_for_nothing() -> None:
    script = "".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS)
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    assert {path.name for path in FOLDER.glob("*.js")} == set(SCRIPTS)
    for sink in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "fetch", "import"):
        assert sink not in script, sink
    for text in (script, style):
        assert "//" not in text.replace("// ", "") and "</" not in text and "\r" not in text
    assert "url(" not in style and "@import" not in style and "@font-face" not in style


def test_text_of_gated_sets_stays_out_unless_allowed(page_of: Any, row_of: Any, says: Any) -> None:
    secret = "the spin of the graviton"
    row = says(replace(row_of("gpqa_diamond", 1), meta={"gated": True}), secret)
    row = replace(row, messages=(replace(row.messages[0], text=secret), *row.messages[1:]))
    failed = replace(row, id="f", judgement=None, failure=Failure("judge", "not_json", secret))
    page = page_of([row, failed])
    assert secret not in page.source and "graviton" not in page.source
    assert [row["gated"] for row in page.json("rows")] == [True, True]
    assert "The text of 2 of them is withheld" in " ".join(page.text.split())
    allowed = page_of([row, failed], name="allowed", allow=True)
    assert allowed.source.count(secret) == 10 and "withheld" not in allowed.text
