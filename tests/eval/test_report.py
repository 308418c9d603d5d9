"""The report as a file: what it tells, which dialogues it holds, and that no text in it is anything but text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from eval.config import ConfigError
from eval.dialogue import Dialogue, Failure, Judgement, Message
from eval.figures.labels import COLOURS
from eval.labels import LABELS
from eval.report import main, report
from eval.report_page.dialogues import MAX_TEXT, Limits, choose
from eval.report_page.facts import facts_of, tag
from eval.report_page.inert import json_for_html, visible
from eval.report_page.marks import BAR, MARGIN, ORDER, WIDTH, Mark, Scale, segments
from eval.report_page.page import FOLDER, SCRIPTS, write_page
from eval.report_page.tables import laid_out
from eval.runs import read_runs
from eval.stats.rates import Rate
from eval.table import Cell, Table

HOSTILE = (
    "</script><script>window.ran = 1</script>",
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1) <a href='javascript:alert(1)'>x</a>",
    "<!-- ]]> {{ 7 * 7 }} {% raw %} &lt; & \" '",
    "\u202eevil\u202c \u2066x\u2069 \u2028 \u2029 \x00 \x1b[31m \x7f \x9b \ufeff \u200b \ud800 \U000e0041",
)
MakeRun = Callable[..., Path]


class Page(HTMLParser):
    """A page as a parser sees it: its elements with attributes, and the text inside each script and style."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[dict[str, str | None], str]] = []
        self.text = ""
        self._inside = False
        self.source = path.read_bytes().decode("utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.text += " "
        self._inside = tag in ("script", "style")
        if self._inside:
            self.raw.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self.text += " "
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.raw[-1] = (self.raw[-1][0], self.raw[-1][1] + data)
        else:
            self.text += data

    def json(self, id: str) -> Any:
        return next(json.loads(text) for attributes, text in self.raw if attributes.get("id") == id)


def said(row: Dialogue, text: str) -> Dialogue:
    """`row` with `text` as its answer and its user turn, in the judge's reply and in the reasoning."""
    query, answer, turn = row.messages
    assert row.judgement
    messages = (query, replace(answer, text=text, reasoning=text), replace(turn, text=text))
    return replace(row, messages=messages, judgement=replace(row.judgement, reply=text))


@pytest.fixture
def page_of(make_run: MakeRun) -> Callable[..., Page]:
    """A run of the given rows -> its report."""

    def make(rows: list[Dialogue], *others: Path, name: str = "run", allow: bool = False, **fields: Any) -> Page:
        return Page(report([make_run(name, rows, **fields), *others], allow_gated_text=allow))

    return make


# ---- what it tells ---------------------------------------------------------------------------------------


def test_the_head_says_what_was_measured_and_with_what(page_of: Any, rows_of: Any) -> None:
    page = page_of(rows_of("gsm8k", 8, 2), model="Tiny-135M@0123abcd", temperature=0.7, judge="local-9")
    facts = facts_text(page)
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


def facts_text(page: Page) -> str:
    return " ".join(page.text[: page.text.index("Every count")].split())


def test_the_commits_of_all_sessions_are_told(make_run: MakeRun, rows_of: Any) -> None:
    path = make_run("run", rows_of("gsm8k", 2, 0))
    manifest = json.loads((path / "manifest.json").read_text())
    sessions = [{"started": "2026-01-02T03:04:05", "git": {"commit": "a" * 40, "dirty_sha256": None}}]
    sessions += [{"started": "2026-01-05T03:04:05", "git": {"commit": "b" * 40, "dirty_sha256": "c"}}] * 2
    (path / "manifest.json").write_text(json.dumps(manifest | {"sessions": sessions}))
    (told,) = facts_of(read_runs([path])).runs
    assert told.settings["code"] == f"{'a' * 12}, {'b' * 12} with changes"
    assert told.settings["made"] == "2026-01-02 to 2026-01-05"


def test_several_runs_share_what_is_equal_and_are_named_by_what_differs(make_run: MakeRun, rows_of: Any) -> None:
    rows = rows_of("gsm8k", 4, 1)
    paths = [
        make_run("a", rows),
        make_run("b", rows, temperature=1.0),
        make_run("c", rows, perturbation={"name": "truncate", "fraction": 0.5}),
        make_run("d", rows, answers_from="Other-1B@77"),
    ]
    facts = facts_of(read_runs(paths))
    assert [run.name.removeprefix("SmolLM2-135M-Instruct, ") for run in facts.runs] == [
        "T=0",
        "T=1",
        "T=0, truncate fraction 0.5",
        "T=0, answers_from Other-1B@77",
    ]
    assert facts.differing == ("user turns", "answers", "perturbation")
    assert facts.runs[3].settings["answers"] == "those of Other-1B@77"
    assert "model" in facts.shared and (facts.total, facts.judged) == (16, 16)


def test_runs_that_names_in_short_cannot_tell_apart_are_named_in_full(make_run: MakeRun, rows_of: Any) -> None:
    paths = [make_run(name, rows_of("gsm8k", 2, 0), model=f"Tiny@{name}") for name in ("0a", "0b")]
    first, second = facts_of(read_runs(paths)).runs
    assert first.name != second.name and "Tiny@0a" in first.name


def test_letters_go_on_after_z() -> None:
    assert [tag(number) for number in (0, 25, 26, 51, 52, 701, 702)] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]


def test_results_hold_the_rates_of_every_task_with_n(page_of: Any, rows_of: Any) -> None:
    rows = rows_of("gsm8k", 40, 10, right=20) + rows_of("healthbench", 30, 3, held_out=True)
    broken = replace(rows[0], judgement=None, failure=Failure("judge", "refusal", "I can't"))
    page = page_of([broken, *rows[1:]])
    text = " ".join(page.text.split())
    assert "GSM8K 40 39 23.1 [12.6, 38.3] 10.3" in text
    assert "HealthBench (held-out) 30 30 10.0 [3.5, 25.6]" in text
    assert "judge refusal 1" in text


def test_tables_of_the_paper_are_there_or_say_what_they_need(page_of: Any, rows_of: Any) -> None:
    page = page_of(rows_of("gsm8k", 6, 1, right=3))
    assert "Table 5: all families, GSM8K" in page.text
    assert "Table 1 needs a run with a perturbation" in page.text


# ---- drawings --------------------------------------------------------------------------------------------


def test_an_interval_is_drawn_on_the_scale_of_its_column() -> None:
    cells = [Cell.rate(Rate(1, 10)), Cell.rate(Rate(4, 10)).beside(80.0), Cell.rate(Rate(0, 0)), Cell("x")]
    scale = Scale.over(cells)
    assert scale == Scale(0, 100)
    mark = Mark.of(cells[1], scale)
    assert mark and mark.low < mark.point < mark.high < mark.paper and mark.zero == MARGIN
    assert mark.point == pytest.approx(MARGIN + 0.4 * (WIDTH - 2 * MARGIN))
    assert [Mark.of(cell, scale) for cell in cells[2:]] == [None, None]
    assert Scale.over(cells[2:]) is None


def test_a_difference_has_zero_in_the_middle() -> None:
    scale = Scale.over([Cell("-3", -3.0, -8.0, 2.0)])
    assert scale == Scale(-10, 10) and scale.x(0) == WIDTH / 2


def test_columns_of_one_measure_share_a_scale() -> None:
    names = ("model", "accuracy %", "genuine %", "specific %", "genuine, difference", "n")
    row = (
        Cell.rate(Rate(9, 10)),
        Cell.rate(Rate(3, 100)),
        Cell.rate(Rate(1, 100)),
        Cell("-3", -3.0, -8.0, 2.0),
        Cell("7"),
    )
    shown = laid_out(Table("t", names, ((Cell("m"), *row),)))
    assert [column.scale for column in shown.columns] == [
        *(None, Scale(0, 100), Scale(0, 10), Scale(0, 10), Scale(-10, 10), None)
    ]
    mixed = laid_out(Table("t", ("measure", *names[1:]), ((Cell("m"), *row),)))
    assert not mixed.drawn and mixed.width == 9


def test_a_bar_is_whole_and_a_strange_label_stands_last() -> None:
    parts = segments({"zzz": 1, "genuine_followup": 2, "other": 1, "meta_planning": 0})
    assert [(part.label, part.count, part.percent) for part in parts] == [
        ("genuine_followup", 2, 50.0),
        ("other", 1, 25.0),
        ("zzz", 1, 25.0),
    ]
    assert [part.x for part in parts] == [0, 500, 750] and parts[-1].x + parts[-1].width == BAR
    assert parts[-1].place is None and parts[0].place == list(LABELS).index("genuine_followup")
    assert segments({}) == []


def test_every_label_has_its_colour_in_the_style() -> None:
    assert set(ORDER) == set(LABELS)
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    light = style[: style.index("@media")]
    for place, label in enumerate(LABELS):
        if label != "other":
            assert f"--l{place}: {COLOURS[label]};" in light, label
        assert f".label-{place}" in style


# ---- dialogues -------------------------------------------------------------------------------------------


def test_every_row_is_there_with_all_that_happened_to_it(page_of: Any, row_of: Any) -> None:
    judged = row_of("gsm8k", 1, "generic_followup", True, correct=False, turn="Sure?")
    failed = replace(row_of("gsm8k", 2), judgement=None, failure=Failure("judge", "timeout", "after 60 s"))
    cut = row_of("gsm8k", 3)
    cut = replace(cut, messages=(*cut.messages[:-1], replace(cut.messages[-1], finish="length")))
    early = Dialogue("gsm8k", (Message("user", "q"),), failure=Failure("generate", "context_too_long"))
    real = Dialogue(
        "coval_real_user",
        (Message("user", "q"), Message("assistant", "a"), Message("user", "really?")),
        meta={"source": "real_user"},
        judgement=Judgement("other", False, "local-1"),
    )
    rows = {row["id"]: row for row in page_of([judged, failed, cut, early, real]).json("rows")}
    assert len(rows) == 5
    shown = rows[judged.id]
    assert (shown["answer"], shown["turn"], shown["state"], shown["correct"]) == (1, 2, "ok", False)
    assert shown["judgement"] == {"label": "generic_followup", "genuine": True, "judge": "local-1", "reply": ""}
    assert shown["messages"][2] == {"role": "user", "text": "Sure?", "by": "tiny@0123", "finish": "stop", "tokens": 3}
    assert rows[failed.id]["failure"] == {"stage": "judge", "kind": "timeout", "detail": "after 60 s"}
    assert rows[cut.id]["state"] == "truncated"
    assert (rows[early.id]["answer"], rows[early.id]["turn"], rows[early.id]["state"]) == (None, None, "gen_error")
    assert (rows[real.id]["answer"], rows[real.id]["turn"], rows[real.id]["setting"]) == (1, 2, "held-out")


def test_equal_runs_give_equal_bytes(make_run: MakeRun, rows_of: Any, tmp_path: Path) -> None:
    runs = read_runs(
        [make_run("a", rows_of("gsm8k", 9, 3, right=4)), make_run("b", rows_of("gsm8k", 9, 1), temperature=1)]
    )
    written = [tmp_path / "one.html", tmp_path / "two.html"]
    for path in written:
        write_page(runs, path)
    assert written[0].read_bytes() == written[1].read_bytes()


def test_beyond_the_limit_tasks_take_turns_alike_in_every_run(make_run: MakeRun, rows_of: Any, tmp_path: Path) -> None:
    def rows(genuine: int) -> list[Dialogue]:
        return rows_of("gsm8k", 60, genuine) + rows_of("ifbench", 6, 0)

    plain, warm = make_run("a", rows(30)), make_run("b", rows(0)[::-1], temperature=1.0)
    runs = read_runs([plain, warm])
    choice = write_page(runs, tmp_path / "page.html", limits=Limits(rows=40))
    page = Page(tmp_path / "page.html")
    shown = page.json("rows")
    of_run = [{row["id"] for row in shown if row["run"] == number} for number in (0, 1)]
    assert of_run[0] == of_run[1] == choice.ids and len(shown) == 40
    assert sum(row["task"] == "ifbench" for row in shown) == 12
    assert (choice.shown, choice.total) == (20, 66)
    assert "20 of 66 dialogues: as many as stay within 40 rows" in " ".join(page.text.split())
    assert choose(runs[::-1], Limits(rows=40), False).ids == choice.ids


def test_the_choice_does_not_look_at_what_was_said_or_judged(make_run: MakeRun, rows_of: Any) -> None:
    ids = [
        choose(read_runs([make_run(name, rows_of("gsm8k", 50, genuine, turn=turn))]), Limits(rows=10), False).ids
        for name, genuine, turn in (("a", 0, "short"), ("b", 50, "rather longer than that"))
    ]
    assert ids[0] == ids[1] and len(ids[0] or ()) == 10


def test_bytes_are_limited_and_one_text_is_cut(make_run: MakeRun, row_of: Any, tmp_path: Path) -> None:
    long = row_of("gsm8k", 0, turn="x" * (MAX_TEXT + 7))
    run = make_run("run", [long, *(row_of("gsm8k", number) for number in range(1, 30))])
    limits = Limits(bytes=5_000)
    choice = write_page(read_runs([run]), tmp_path / "page.html", limits=limits)
    assert 0 < choice.shown < 30
    (row,) = [row for row in Page(report([run])).json("rows") if row["id"] == long.id]
    assert row["messages"][-1]["text"] == "x" * MAX_TEXT + "\n[7 more characters in rows.jsonl]"


# ---- no text is anything but text ------------------------------------------------------------------------


def test_hostile_text_of_models_arrives_as_it_is_and_only_as_data(page_of: Any, row_of: Any) -> None:
    rows = [said(row_of("gsm8k", number), text) for number, text in enumerate(HOSTILE)]
    page = page_of(rows)
    texts = {row["messages"][2]["text"] for row in page.json("rows")}
    assert texts == set(HOSTILE)
    harmless = page_of([said(row_of("gsm8k", number), "fine") for number in range(len(HOSTILE))], name="other")
    assert [name for name, _ in page.elements] == [name for name, _ in harmless.elements]


def test_hostile_names_and_labels_are_spelled_out(page_of: Any, row_of: Any) -> None:
    evil = "</title><script>1</script>\u202e\x1b"
    page = page_of([row_of(evil, 0, label=evil)], model=f"{evil}@0", judge=f"{evil}")
    assert sum(name == "script" for name, _ in page.elements) == 3
    assert "\u202e" not in page.source and "\x1b" not in page.source
    assert "</title><script>1</script>⟦U+202E⟧⟦U+001B⟧" in page.text


def test_json_for_html_is_inert_and_means_the_same() -> None:
    for text in (*HOSTILE, "emoji \U0001f680 \u4f60", "\udc00\ud800"):
        encoded = json_for_html([text])
        assert json.loads(encoded) == [text]
        assert not re.search("[<>&\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]", encoded)
        assert encoded.encode()


def test_visible_spells_out_what_is_not_seen_and_leaves_the_rest() -> None:
    assert visible("a\x00\x1b\x7f") == "a⟦U+0000⟧⟦U+001B⟧⟦U+007F⟧"
    assert visible("\u202e\u3164\ud800\U000e0041") == "⟦U+202E⟧⟦U+3164⟧⟦U+D800⟧⟦U+E0041⟧"
    assert visible("é 你好 \u05d0 🚀\n\tx") == "é 你好 \u05d0 🚀\n\tx"


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


# ---- gated data sets -------------------------------------------------------------------------------------


def test_text_of_gated_sets_stays_out_unless_allowed(page_of: Any, row_of: Any) -> None:
    secret = "the spin of the graviton"
    row = said(replace(row_of("gpqa_diamond", 1), meta={"gated": True}), secret)
    row = replace(row, messages=(replace(row.messages[0], text=secret), *row.messages[1:]))
    failed = replace(row, id="f", judgement=None, failure=Failure("judge", "not_json", secret))
    page = page_of([row, failed])
    assert secret not in page.source and "graviton" not in page.source
    assert [row["gated"] for row in page.json("rows")] == [True, True]
    assert "The text of 2 of them is withheld" in " ".join(page.text.split())
    allowed = page_of([row, failed], name="allowed", allow=True)
    assert allowed.source.count(secret) == 10 and "withheld" not in allowed.text


# ---- the command -----------------------------------------------------------------------------------------


def test_the_command_prints_where_the_report_is(make_run: MakeRun, rows_of: Any, capsys: Any, tmp_path: Path) -> None:
    path = make_run("run", rows_of("gsm8k", 3, 1))
    assert main([str(path)]) == 0
    assert capsys.readouterr().out == f"{path / 'report.html'}\n" and (path / "report.html").is_file()
    assert main([str(path), "--out", str(tmp_path / "x.html"), "--allow-gpqa-text"]) == 0
    assert (tmp_path / "x.html").is_file()


def test_what_cannot_work_is_said_and_leaves_the_old_report(make_run: MakeRun, rows_of: Any, capsys: Any) -> None:
    path = make_run("run", rows_of("gsm8k", 3, 1))
    assert main([str(path / "nowhere")]) == 2
    assert main([str(path), "--out", str(path / "no" / "folder.html")]) == 2
    assert main([str(path), "--out", str(path)]) == 2
    assert capsys.readouterr().err.count("error: ") == 3
    before = report([path]).read_bytes()
    with (path / "rows.jsonl").open("a") as file:
        file.write('{"key": 7}\n')
    with pytest.raises(ConfigError, match="line 4 is no row"):
        report([path])
    assert (path / "report.html").read_bytes() == before
    assert not list(path.glob(".report*"))
